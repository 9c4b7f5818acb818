// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "library/entry_points.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/queues/message_queues.hpp"
#include "mpiacq/queues/queue_memory.hpp"

namespace mpiacq::mqd_host {

/// The facts about a library that do not depend on a process.
struct library_facts {
  std::string version;  ///< mqs_version_string, made printable
  int compatibility = 0;
  length_unit unit = length_unit::unknown;
};

/// Receives a library's results as they come, so that they are kept if the library then crashes.
class report_sink {
 public:
  virtual ~report_sink() = default;

  /// This call enters the library's code; `none`: the library has returned. Called for every call, so it must be cheap.
  virtual void calling(entry_point /*entry*/) {}

  virtual void library(library_facts&& facts) = 0;
  /// The process has queues. A later failure is a problem in the report, and no error.
  virtual void has_queues() = 0;
  /// The next communicator, still with empty queues.
  virtual void communicator(queue_communicator&& c) = 0;
  /// A queue of the last communicator begins. All its operations follow before it ends. A queue that begins and does
  /// not end is cut short.
  virtual void queue_begins(queue_class which) = 0;
  virtual void operation(queue_operation&& op) = 0;
  virtual void queue_ends(queue_class which, queue_knowledge known) = 0;
  virtual void spawn_breakpoint(std::string&& function) = 0;
  virtual void process(new_process&& p) = 0;
  virtual void missing(missing_type&& m) = 0;
  virtual void note(std::string&& text) = 0;
  virtual void problem(error&& e) = 0;
  /// Why nothing more is kept; empty while there is room.
  [[nodiscard]] virtual std::optional<error> full() const { return std::nullopt; }
};

/// Collects a report within a limit of memory.
class report_builder final : public report_sink {
 public:
  explicit report_builder(std::string library_path, std::uint64_t room = most_report_bytes) : room_(room), left_(room) {
    report_.library_path = std::move(library_path);
  }

  void library(library_facts&& facts) override;
  void has_queues() override { has_queues_ = true; }
  void communicator(queue_communicator&& c) override;
  void queue_begins(queue_class which) override;
  void operation(queue_operation&& op) override;
  void queue_ends(queue_class which, queue_knowledge known) override;
  void spawn_breakpoint(std::string&& function) override { report_.spawn_breakpoint = std::move(function); }
  void process(new_process&& p) override;
  void missing(missing_type&& m) override;
  void note(std::string&& text) override;
  void problem(error&& e) override;
  [[nodiscard]] std::optional<error> full() const override { return full_; }

  /// Returns the report; to be called once. If the report is full, its last problem says so. `how_it_ended` is the
  /// result of the session. An error before `has_queues` is the result, unless types were missing: the result is then
  /// the missing types, with the error as a problem. A later error is a problem.
  [[nodiscard]] result<queue_report> finish(result<void> how_it_ended);

 private:
  enum class progress : std::uint8_t { not_begun, begun, ended };
  void close_queues();
  /// Reserves this many bytes. Returns false if too few are left, and in all later calls.
  [[nodiscard]] bool make_room(std::uint64_t bytes);

  queue_report report_;
  std::uint64_t room_;  ///< in bytes
  std::uint64_t left_;
  std::optional<error> full_;
  bool has_queues_ = false;
  std::array<progress, 3> queues_{};  ///< the queues of the last communicator
  queue_class current_ = queue_class::sends;
};

}  // namespace mpiacq::mqd_host

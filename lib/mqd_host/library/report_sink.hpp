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

/// What is known of a library before it has seen a process.
struct library_facts {
  std::string version;  ///< mqs_version_string, made printable
  int compatibility = 0;
  length_unit unit = length_unit::unknown;
};

/// Takes what a library says as it says it: what was said stays said when the library then takes its process along.
class report_sink {
 public:
  virtual ~report_sink() = default;

  /// The library's code is entered by this call, or `none`: it has come back. Cheap: it is told of every call.
  virtual void calling(entry_point /*entry*/) {}

  virtual void library(library_facts&& facts) = 0;
  /// The process has queues: what fails from now on is a problem of the report, and no longer its end.
  virtual void has_queues() = 0;
  /// The next communicator; its queues are empty yet.
  virtual void communicator(queue_communicator&& c) = 0;
  /// A queue of the last communicator. All its operations come before it ends; a queue that begins and does not end
  /// was cut short.
  virtual void queue_begins(queue_class which) = 0;
  virtual void operation(queue_operation&& op) = 0;
  virtual void queue_ends(queue_class which, queue_knowledge known) = 0;
  virtual void spawn_breakpoint(std::string&& function) = 0;
  virtual void process(new_process&& p) = 0;
  virtual void missing(missing_type&& m) = 0;
  virtual void note(std::string&& text) = 0;
  virtual void problem(error&& e) = 0;
  /// Why nothing more is kept; empty as long as there is room.
  [[nodiscard]] virtual std::optional<error> full() const { return std::nullopt; }
};

/// Makes a report of it, and keeps no more than there is room for.
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

  /// The report, once; that it is full is its last problem. `how_it_ended` is what the session, or whoever watched its
  /// process, says: an error before the process had queues is the answer, unless types were missing (what is missing is
  /// the answer then, with the error as a problem); a later one is a problem.
  [[nodiscard]] result<queue_report> finish(result<void> how_it_ended);

 private:
  enum class progress : std::uint8_t { not_begun, begun, ended };
  void close_queues();
  /// Takes room for so many bytes; false where there is none, and from then on.
  [[nodiscard]] bool make_room(std::uint64_t bytes);

  queue_report report_;
  std::uint64_t room_;  ///< for so many bytes
  std::uint64_t left_;
  std::optional<error> full_;
  bool has_queues_ = false;
  std::array<progress, 3> queues_{};  ///< of the last communicator
  queue_class current_ = queue_class::sends;
};

}  // namespace mpiacq::mqd_host

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "framing/frames.hpp"
#include "host/answer_server.hpp"
#include "host/helper_process.hpp"
#include "host/report_record_reader.hpp"
#include "library/call_clock.hpp"

namespace mpiacq::mqd_host {

/// The tool's side of one session with the process of a queue library: answers requests, keeps the report, and kills
/// the process if it does not end by itself.
class conversation {
 public:
  /// `stop`: a descriptor; the session ends once it is readable. -1: none.
  conversation(helper_process& process, answer_server& answers, record_reader& reader, const queue_limits& limits,
               int stop = -1)
      : process_(process),
        answers_(answers),
        reader_(reader),
        limits_(limits),
        stop_(stop),
        clock_(limits, std::chrono::steady_clock::now()) {}

  /// Runs the session from its first message to its last. The library's records go to the reader. An error says why no
  /// more records come. The process has ended when this returns.
  [[nodiscard]] result<void> run(const begin_message& begin);

  /// The kept beginning of the library's output. `dropped` bytes followed it.
  [[nodiscard]] const std::string& output() const { return output_; }
  [[nodiscard]] std::uint64_t output_dropped() const { return output_dropped_; }

 private:
  enum class step : std::uint8_t { go_on, closed };

  [[nodiscard]] result<void> talk(const begin_message& begin);
  /// The error of a session whose process has ended, or is being ended here.
  [[nodiscard]] error ended();
  [[nodiscard]] error too_slow(call_clock::verdict which);

  [[nodiscard]] result<std::vector<std::byte>> answer(const request& what);
  [[nodiscard]] result<void> send(std::span<const std::byte> message);
  [[nodiscard]] result<void> wait(short socket_events);
  [[nodiscard]] step receive();
  void take_output();
  [[nodiscard]] result<void> take_report();
  [[nodiscard]] std::string during() const;

  helper_process& process_;
  answer_server& answers_;
  record_reader& reader_;
  const queue_limits& limits_;
  int stop_;
  call_clock clock_;
  base::frame_splitter frames_{longest_request};
  std::vector<std::byte> copied_report_;
  std::string output_;
  std::uint64_t output_dropped_ = 0;
  bool output_open_ = true;
};

}  // namespace mpiacq::mqd_host

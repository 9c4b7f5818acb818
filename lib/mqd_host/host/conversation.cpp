// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "host/conversation.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "separate/sandbox.hpp"
#include "text/signal_name.hpp"

namespace mpiacq::mqd_host {

namespace {

using steady = std::chrono::steady_clock;
constexpr std::chrono::milliseconds patience_with_its_end{2000};

}  // namespace

result<void> conversation::run(const begin_message& begin) {
  auto outcome = talk(begin);
  // `run` fails here. A process that ended by itself has been waited for in `ended`.
  static_cast<void>(process_.end(std::chrono::milliseconds{0}));
  take_output();
  // The records that the process wrote before it ended are taken however it ended.
  if (auto taken = take_report(); !taken && outcome) outcome = std::move(taken);
  reader_.finish();
  return outcome;
}

result<void> conversation::talk(const begin_message& begin) {
  if (auto sent = send(base::as_frame(encode(begin))); !sent) return sent;
  while (true) {
    while (const auto frame = frames_.next()) {
      const auto asked = decode<request>(*frame);
      if (!asked)
        return fail(error_code::bad_format, "the process of the queue library sent a message that is no request");
      if (const auto* end = std::get_if<end_message>(&*asked)) return record_reader::judged(end->outcome);
      const auto begun = steady::now();
      auto bytes = answer(*asked);
      clock_.pause(steady::now() - begun);
      if (!bytes) return fail(std::move(bytes).error());
      if (auto sent = send(base::as_frame(*bytes)); !sent) return sent;
    }
    if (frames_.broken()) return fail(error_code::bad_format, "the process of the queue library sent an invalid frame");
    if (auto waited = wait(POLLIN); !waited) return waited;
    if (receive() == step::closed) return fail(ended());
  }
}

result<std::vector<std::byte>> conversation::answer(const request& what) {
  if (const auto* name = std::get_if<look_up_request>(&what)) return answers_.answer(*name);
  if (const auto* type = std::get_if<type_request>(&what)) return answers_.answer(*type);
  if (const auto* memory = std::get_if<memory_request>(&what)) return answers_.answer(*memory, process_.area());
  TRY(take_report());
  return encode(report_request::answer{true});
}

result<void> conversation::send(std::span<const std::byte> message) {
  while (!message.empty()) {
    const ssize_t sent = ::send(process_.socket(), message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      message = message.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == ENOBUFS) {
      if (auto waited = wait(POLLOUT); !waited) return waited;
    } else if (errno != EINTR) {
      return fail(ended());
    }
  }
  return {};
}

result<void> conversation::wait(short socket_events) {
  while (true) {
    const auto now = steady::now();
    const auto verdict = clock_.look(process_.area().calls.load(std::memory_order_relaxed), now);
    if (verdict != call_clock::verdict::in_time) return fail(too_slow(verdict));
    std::array<pollfd, 3> any{pollfd{process_.socket(), socket_events, 0},
                              pollfd{output_open_ ? process_.output() : -1, POLLIN, 0}, pollfd{stop_, POLLIN, 0}};
    const int ready = ::poll(any.data(), any.size(), clock_.milliseconds_to_look(now));
    if (ready < 0 && errno != EINTR) {
      return fail(error{error_code::system, "waiting for the process of a queue library"}.with_errno(errno));
    }
    if (ready <= 0) continue;
    if (any[2].revents != 0) {
      return fail(error_code::timed_out, fmt::format("the queue library was stopped{} before its end", during()));
    }
    if (any[1].revents != 0) take_output();
    if (any[0].revents != 0) return {};
  }
}

conversation::step conversation::receive() {
  const auto room = frames_.room(4096);
  const ssize_t got = ::recv(process_.socket(), room.data(), room.size(), MSG_DONTWAIT);
  if (got > 0) frames_.came(static_cast<std::size_t>(got));
  const bool not_now = got < 0 && (errno == EAGAIN || errno == EINTR);
  return got > 0 || not_now ? step::go_on : step::closed;
}

void conversation::take_output() {
  std::array<char, 16384> piece{};
  // Bounds the reads per turn, so that a flood of output cannot keep the loop from its clock.
  for (int i = 0; i < 16; ++i) {
    const ssize_t got = ::read(process_.output(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      output_open_ = got < 0 && errno == EAGAIN;
      return;
    }
    const auto length = static_cast<std::size_t>(got);
    const std::size_t kept = std::min<std::size_t>(length, limits_.output_bytes - output_.size());
    output_.append(piece.data(), kept);
    output_dropped_ += length - kept;
  }
}

result<void> conversation::take_report() {
  shared_area& area = process_.area();
  const std::uint32_t said =
      std::min<std::uint32_t>(area.said.load(std::memory_order_acquire), shared_area::report_bytes);
  copied_report_.assign(area.report.begin(), area.report.begin() + said);
  area.said.store(0, std::memory_order_relaxed);
  return reader_.take(copied_report_);
}

std::string conversation::during() const {
  const auto entry = static_cast<entry_point>(process_.area().entry.load(std::memory_order_relaxed));
  const auto called = name(entry);
  return called.empty() ? std::string{" between its calls"} : fmt::format(" in {}", called);
}

error conversation::ended() {
  const shared_area& area = process_.area();
  const auto status = process_.end(patience_with_its_end);
  if (!status) return {error_code::system, fmt::format("the process of the queue library has ended{}", during())};
  if (area.confined == 0) {
    return {error_code::system,
            fmt::format("the process for a queue library could not be set up: {}",
                        WIFSIGNALED(*status) ? fmt::format("ended by {}", base::signal_name(WTERMSIG(*status)))
                                             : fmt::format("ended with status {}", WEXITSTATUS(*status)))};
  }
  if (WIFEXITED(*status)) {
    return {error_code::system,
            fmt::format("the queue library ended its process with status {}{}", WEXITSTATUS(*status), during())};
  }
  const int signal = WTERMSIG(*status);
  const std::int32_t refused = area.refused_call;
  if (signal == SIGSYS) {
    const auto call = system_call_name(refused);
    // The handler that stores the number cannot run where signals are blocked, as they are when a thread is started.
    const std::string what = refused < 0     ? "with blocked signals, as for a new thread"
                             : !call.empty() ? std::string{call}
                                             : fmt::format("system call {}", refused);
    return {
        error_code::permission,
        fmt::format("the queue library made a forbidden system call ({}){}, and was ended (SIGSYS)", what, during())};
  }
  if (signal == SIGKILL) {
    return {error_code::system,
            fmt::format("the queue library closed its socket, or its process was killed (SIGKILL){}", during())};
  }
  return {error_code::system, fmt::format("the queue library crashed{} ({})", during(), base::signal_name(signal))};
}

error conversation::too_slow(call_clock::verdict which) {
  const bool one_call = which == call_clock::verdict::call_too_long;
  return {error_code::timed_out, fmt::format("the queue library was still{} after {} ms{}, and was ended", during(),
                                             (one_call ? limits_.call_time : limits_.process_time).count(),
                                             one_call ? "" : " of all its calls")};
}

}  // namespace mpiacq::mqd_host

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "server/guard.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/channel.hpp"

namespace mpiacq::tracing {

namespace {

constexpr int status_of_signal = 128;

/// `tool` and `events` are -1 if the tool has gone.
void wait_until(waiter& statuses, int tool, int events, bool has_events, deadline next) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - clock::now()).count();
  const int limit = next == no_deadline ? -1 : static_cast<int>(std::clamp<long long>(left, 0, 60'000));
  std::array<pollfd, 3> all = {
      {{statuses.descriptor(), POLLIN, 0}, {tool, POLLIN, 0}, {events, has_events ? short{POLLOUT} : short{0}, 0}}};
  if (::poll(all.data(), all.size(), limit) > 0 && all[0].revents != 0) statuses.drain();
}

/// Whether the tool has ended or has closed its side of the socket.
bool is_gone(const unique_fd& tool, const event_queue& events) {
  std::array<pollfd, 2> ends = {{{tool.get(), POLLIN, 0}, {events.socket(), 0, 0}}};
  return ::poll(ends.data(), ends.size(), 0) > 0;
}

}  // namespace

int guard::run() {
  wait_for_end();
  int status = 0;
  while (::waitpid(tracing_, &status, __WALL) < 0 && errno == EINTR) {
  }
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  take_notes();
  // Without a waiter no process can be held, so that none is touched.
  if (auto statuses = waiter::create()) clean_up(*statuses, WTERMSIG(status));
  return status_of_signal + WTERMSIG(status);
}

/// The pidfd is readable when all threads of the process have ended; the notes end when the process closes its socket.
void guard::wait_for_end() {
  const unique_fd process{static_cast<int>(::syscall(SYS_pidfd_open, tracing_, 0))};
  if (!process) return;
  for (;;) {
    std::array<pollfd, 2> all = {{{process.get(), POLLIN, 0}, {ends_.notes.get(), POLLIN, 0}}};
    if (::poll(all.data(), all.size(), -1) < 0) continue;
    if (all[0].revents != 0) return;
    take_notes();
  }
}

void guard::take_notes() {
  std::vector<std::byte> bytes;
  while (ends_.notes) {
    const packet_outcome outcome = receive_packet(ends_.notes.get(), bytes);
    if (outcome == packet_outcome::gone) ends_.notes.reset();
    if (outcome != packet_outcome::done) return;
    auto note = decode<guard_note>(bytes);
    if (!note) continue;
    if (auto* of = std::get_if<guarded_process>(&*note)) {
      guarded_.insert_or_assign(of->id, std::move(*of));
    } else {
      guarded_.erase(std::get<forgotten_process>(*note).id);
    }
  }
}

void guard::clean_up(waiter& statuses, int signal) {
  event_queue events(std::move(ends_.events));
  tracer_options options;
  options.hold_limit.reset();
  this_kernel kernel;
  engine cleaner(kernel.access(), events, options);
  for (const auto& [id, left] : guarded_) {
    cleaner.take_over(left, {error_code::system,
                             fmt::format("process {} was let go: the process that traced for this one was ended by "
                                         "signal {}; its breakpoints are taken out",
                                         id, signal)});
  }
  bool told = false;
  const auto is_done = [&] {
    return !cleaner.holds_any() && !cleaner.awaits_late_threads() && (told || events.all_sent());
  };
  while (!is_done()) {
    const bool may_leave = !told && !cleaner.is_taking_over();
    if (may_leave && is_gone(ends_.process, events)) {
      told = true;
      ends_.process.reset();
      cleaner.leave_all();
    }
    cleaner.take_expected();
    while (const auto report = statuses.next()) cleaner.on_status(report->task, report->status);
    cleaner.on_time(clock::now());
    events.send();
    if (is_done()) return;
    const bool watches_tool = !told && !cleaner.is_taking_over();
    wait_until(statuses, watches_tool ? ends_.process.get() : -1, watches_tool ? events.socket() : -1,
               !events.all_sent(), cleaner.next_deadline());
  }
}

}  // namespace mpiacq::tracing

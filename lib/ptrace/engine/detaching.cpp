// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/detaching.hpp"

#include <csignal>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace mpiacq::tracing {

namespace {

using namespace std::chrono_literals;

constexpr auto left_leader_interval = 100ms;
/// The limit of one restore_on_exit. The interface's largest variable has about 4 KiB.
constexpr std::size_t most_bytes_to_restore = 65536;

}  // namespace

result<void> detaching::restore_on_exit(traced_process& process, target_address address, std::vector<std::byte> bytes) {
  if (bytes.size() > most_bytes_to_restore) {
    return fail(error_code::invalid_argument,
                fmt::format("{} bytes are to be restored on exit: more than {}", bytes.size(), most_bytes_to_restore));
  }
  if (bytes.empty()) {
    process.last_writes.erase(address);
  } else {
    process.last_writes.insert_or_assign(address, std::move(bytes));
  }
  guard_.tell(process);
  return {};
}

void detaching::restore(traced_process& process) {
  for (const auto& [address, bytes] : std::exchange(process.last_writes, {})) {
    const auto written = kernel_.memory.write(process.id, address, bytes);
    // If memory does not answer one write, the next write would block as long.
    if (!written && written.error().code == error_code::timed_out) return;
  }
}

void detaching::answer(traced_process& process, result<void> outcome) {
  if (const auto request = std::exchange(process.detaching, std::nullopt)) request->answer(std::move(outcome));
}

void detaching::finish(traced_process& process) {
  const detach_request request = *std::exchange(process.detaching, std::nullopt);
  process.hits.clear();
  process.interrupt_due = process.at_entry = false;
  if (request.without_tool) restore(process);
  process.last_writes.clear();
  auto outcome = breakpoints_.remove_all(process);
  process.now = phase::leaving;
  // The signal stays pending while all threads are in ptrace-stops. The first released thread receives it before it
  // executes an instruction of the program, and the signal stops the whole process.
  if (request.how == leave::stopped && process.group_stop == 0) ::kill(process.id, SIGSTOP);
  const std::vector<pid_t> missing = let_go(process);
  if (!missing.empty() && outcome) {
    outcome = fail(error_code::timed_out,
                   fmt::format("process {}: thread {} did not stop to be let go; it is let go when it comes back from "
                               "the kernel",
                               process.id, fmt::join(missing, ", ")));
  }
  end_if_empty(process);
  request.answer(std::move(outcome));
}

std::vector<pid_t> detaching::let_go(traced_process& process) {
  std::vector<pid_t> missing;
  for (auto next = process.threads.begin(); next != process.threads.end();) {
    auto& [task, thread] = *next++;
    if (thread.zombie) continue;
    if (thread.is_stopped()) {
      detach(process, thread);
    } else {
      missing.push_back(task);
    }
  }
  return missing;
}

void detaching::let_go_late(traced_process& process, traced_thread& thread) {
  detach(process, thread);
  end_if_empty(process);
}

void detaching::detach(traced_process& process, traced_thread& thread) {
  if (process.breakpoints.had_any) arch::reset_hardware(kernel_.calls, thread.id);
  if (!kernel_.calls.detach(thread.id, thread.signal)) {
    // The thread is being killed, and the wait reports its end.
    thread.state = thread_state::running;
    return;
  }
  tracees_.drop_thread(process, thread.id);
}

void detaching::look_at_leader(traced_process& process) {
  const auto leader = kernel_.tasks.status(process.id);
  if (!leader || leader->tracer != ::gettid()) tracees_.drop_thread(process, process.id);
  end_if_empty(process);
}

void detaching::end_if_empty(traced_process& process) {
  if (process.threads.contains(process.id)) process.look_at_leader = clock::now() + left_leader_interval;
  if (!process.threads.empty()) return;
  if (!process.launched) return forget(process);
  process.now = phase::released;
  guard_.tell(process);
}

void detaching::forget(traced_process& process) {
  children_.on_parent_gone(process);
  process.now = phase::released;
  guard_.tell(process);
  tracees_.erase(process);
  children_.place_unreported();
}

}  // namespace mpiacq::tracing

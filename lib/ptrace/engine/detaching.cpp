// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "engine/engine.hpp"

namespace mpiacq::tracing {

namespace {

using namespace std::chrono_literals;

constexpr auto left_leader_interval = 100ms;
/// Of one restore_on_exit. The interface's largest variable has some 4 KiB.
constexpr std::size_t most_last_bytes = 65536;

}  // namespace

void engine::detach(process_id id, leave how, reply<void> answer) {
  auto found = find(id);
  if (!found) {
    if (lost(id) == nullptr && events_.has_any_of(id)) return answer({});
    return answer(fail(std::move(found).error()));
  }
  begin_detach(**found, {how, std::move(answer)});
}

void engine::begin_detach(traced_process& process, detach_request request) {
  process.detaching = std::move(request);
  if (process.now == phase::held) return finish_detach(process);
  if (process.now == phase::running) return begin_stop(process);
}

void engine::leave_all() {
  leaving_all_ = true;
  give_up_delayed_attaches();
  place_unannounced_children();
  const auto nobody = [](result<void>) {};
  std::vector<pid_t> all;
  for (const auto& [id, process] : processes_) all.push_back(id);
  for (const pid_t id : all) {
    const auto found = processes_.find(id);
    if (found == processes_.end()) continue;
    traced_process& process = found->second;
    if (process.ends_with_tool && process.now != phase::released) ::kill(id, SIGKILL);
    if (process.detaching) {
      process.detaching->without_tool = true;
      continue;
    }
    // A process that is being launched is let go as soon as its exec has worked.
    if (process.now != phase::released && process.now != phase::leaving) {
      begin_detach(process, {leave::running, nobody, true});
    }
  }
}

void engine::end_detach(traced_process& process, result<void> outcome) {
  if (const auto request = std::exchange(process.detaching, std::nullopt)) request->answer(std::move(outcome));
}

/// Every thread that could be stopped is.
void engine::finish_detach(traced_process& process) {
  const detach_request request = *std::exchange(process.detaching, std::nullopt);
  process.hits.clear();
  process.interrupt_due = process.at_entry = false;
  if (request.without_tool) write_last(process);
  process.last_writes.clear();
  auto outcome = take_out_all(process);
  process.now = phase::leaving;
  // The signal waits while all are in ptrace-stops. The first one to be let go takes it before it runs an instruction
  // of the program, and stops the others with itself.
  if (request.how == leave::stopped && process.group_stop == 0) ::kill(process.id, SIGSTOP);
  const std::vector<pid_t> missing = detach_stopped_threads(process);
  if (!missing.empty() && outcome) {
    outcome = fail(error_code::timed_out,
                   fmt::format("process {}: thread {} did not stop to be let go; it is let go when it comes back from "
                               "the kernel",
                               process.id, fmt::join(missing, ", ")));
  }
  leave_if_empty(process);
  request.answer(std::move(outcome));
}

result<void> engine::restore_on_exit(process_id id, target_address address, std::vector<std::byte> bytes) {
  if (bytes.size() > most_last_bytes) {
    return fail(error_code::invalid_argument,
                fmt::format("{} bytes are to be written at our end: more than {}", bytes.size(), most_last_bytes));
  }
  auto found = find(id);
  if (!found) return fail(std::move(found).error());
  auto& writes = (*found)->last_writes;
  if (bytes.empty()) {
    writes.erase(address);
  } else {
    writes.insert_or_assign(address, std::move(bytes));
  }
  tell_guard(**found);
  return {};
}

/// No tool is left that could be told of a failure.
void engine::write_last(const traced_process& process) {
  for (const auto& [address, bytes] : process.last_writes) {
    const auto written = write_code(process.id, address, bytes);
    // Memory that does not answer once keeps the next write as long.
    if (!written && written.error().code == error_code::timed_out) return;
  }
}

/// Gives those that could not be let go, because they have not stopped.
std::vector<pid_t> engine::detach_stopped_threads(traced_process& process) {
  std::vector<pid_t> missing;
  for (auto next = process.threads.begin(); next != process.threads.end();) {
    auto& [task, thread] = *next++;
    if (thread.zombie) continue;
    if (thread.state == thread_state::stopped) {
      detach_thread(process, thread);
    } else {
      missing.push_back(task);
    }
  }
  return missing;
}

void engine::detach_thread(traced_process& process, traced_thread& thread) {
  if (process.had_breakpoints) arch::reset_hardware(calls_, thread.id);
  const auto gone = calls_.detach(thread.id, thread.signal);
  if (!gone) {
    // It is being killed, and its end will be told to us.
    thread.state = thread_state::running;
    return;
  }
  process_of_.erase(thread.id);
  process.threads.erase(thread.id);
}

/// A thread that was let go may exec while others are not yet. The leader is gone then without a word.
void engine::look_at_left_leader(traced_process& process) {
  const auto leader = read_task_status(process.id);
  if (!leader || leader->tracer != ::gettid()) drop_thread(process, process.id);
  leave_if_empty(process);
}

void engine::leave_if_empty(traced_process& process) {
  if (process.threads.contains(process.id)) process.look_at_leader = clock::now() + left_leader_interval;
  if (!process.threads.empty()) return;
  if (!process.launched) return forget(process);
  process.now = phase::released;
  tell_guard(process);
}

}  // namespace mpiacq::tracing

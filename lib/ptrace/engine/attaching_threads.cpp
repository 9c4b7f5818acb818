// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Attaches to the threads of one process. Any of them may end, exec, or make others meanwhile.
#include <algorithm>
#include <thread>

#include <unistd.h>

#include "client/attach_error.hpp"
#include "engine/attaching.hpp"
#include "engine/fork_reports.hpp"
#include "errors/try.hpp"
#include "kernel/thread_seizer.hpp"

namespace mpiacq::tracing {

namespace {

using namespace std::chrono_literals;

std::vector<pid_t> known_threads(const traced_process& process) {
  std::vector<pid_t> all;
  for (const auto& [task, thread] : process.threads) all.push_back(task);
  return all;
}

}  // namespace

/// Whether an untraced thread has become the leader by an exec. The traced leader has then gone without a report.
bool attaching::has_lost_leader(const traced_process& process) const {
  const auto known = process.threads.find(process.id);
  if (known == process.threads.end()) return false;
  const auto leader = kernel_.tasks.status(process.id);
  if (!leader) return true;
  const bool alive = leader->state != 'Z' && leader->state != 'X';
  if (leader->tracer != ::gettid()) return true;
  if (known->second.zombie) return alive;
  return known->second.is_stopped() && (!kernel_.calls.event_message(process.id) || waiter::has_news_of(process.id));
}

/// Drops threads that do not exist any more: each has become the leader, or the whole process has ended without its
/// leader.
void attaching::drop_ended_threads(traced_process& process, const std::vector<pid_t>& listed) {
  if (has_lost_leader(process)) tracees_.drop_thread(process, process.id);
  for (const pid_t task : known_threads(process)) {
    // Absence from the list does not prove that the thread has ended: a list that is read while threads end can omit a
    // living one.
    const bool is_listed = std::binary_search(listed.begin(), listed.end(), task);
    if (!is_listed && !kernel_.tasks.is_thread_of(process.id, task)) tracees_.drop_thread(process, task);
  }
}

/// Reads the list once. True if it showed an unknown thread.
result<bool> attaching::catch_new_threads(traced_process& process) {
  // The list is read before the leader is checked. A thread that becomes the leader later is in the list as an unknown
  // thread; the check finds one that has become the leader before.
  std::vector<pid_t> listed = list_threads(process.id);
  std::sort(listed.begin(), listed.end());
  drop_ended_threads(process, listed);
  bool news = false;
  thread_seizer seizer(kernel_.calls, process.id, !process.threads.empty());
  result<void> outcome;
  for (const pid_t task : listed) {
    if (process.threads.contains(task)) continue;
    const auto what = catch_thread(process, task, seizer);
    if (!what) {
      outcome = fail(what.error());
      break;
    }
    // A dead leader stays in the list, and is not new.
    if (*what == caught::yes || *what == caught::gone) news = true;
  }
  for (const pid_t task : seizer.take_ended()) tracees_.drop_thread(process, task);
  TRY(std::move(outcome));
  return news;
}

result<attaching::caught> attaching::catch_thread(traced_process& process, pid_t task, thread_seizer& seizer) {
  // The kernel also answers EPERM for a thread that is just ending, or that gives its number to another thread by an
  // exec. Another tracer may also have gone before it could be named. Failures without another explanation are
  // therefore retried.
  constexpr int tries = 20;
  result<void> seized;
  for (int i = 0; i < tries; ++i) {
    seized = seizer.seize(task, options_of(process));
    // A thread that can be interrupted exists. This avoids a /proc read for each of many threads.
    if (seized && kernel_.calls.interrupt(task)) {
      tracees_.add_thread(process, task);
      stops_.expect(task);
      return caught::yes;
    }
    const auto about = kernel_.tasks.status(task);
    if (!about) {
      // The seized thread may have been in the middle of an exec, and may have the leader's number now.
      if (seized) static_cast<void>(kernel_.calls.interrupt(process.id));
      return caught::gone;
    }
    if (seized || about->tracer == ::gettid()) {
      // The kernel may have attached the thread with its maker, or with an exec. New or ended, it will report.
      tracees_.add_thread(process, task);
      static_cast<void>(kernel_.calls.interrupt(task));
      return caught::yes;
    }
    if (seized.error().code == error_code::busy) break;
    if (about->state == 'Z' || about->state == 'X') return caught::dead;
    if (seized.error().code == error_code::process_gone) {
      if (task != process.id) return caught::gone;
      return fail(foreign_process_folder(task));
    }
    if (task != process.id && is_kernel_worker(task)) return caught::not_the_programs;
    std::this_thread::sleep_for(100us);
  }
  return fail(std::move(seized).error());
}

}  // namespace mpiacq::tracing

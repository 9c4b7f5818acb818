// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Taking hold of many processes at once, and letting go of them.
//
// What can be asked about a process is asked before the first one is touched. Then all threads of all are seized, then
// all are interrupted, and then their stops come in. A process of which something does not go as it mostly does (a
// thread that ends just now, another tracer, no permission) is left to attaching.cpp, which takes its time.
//
// Most have stopped by the time when the last one has been interrupted. So they are asked by their numbers at once, and
// until they have been, the kernel is told not to signal stops. A signal means then that a task has ended: one question
// at the end says of all processes that no leader has.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <sched.h>
#include <sys/ptrace.h>

#include "client/attach_error.hpp"
#include "engine/engine.hpp"
#include "engine/thread_seizer.hpp"
#include "engine/tracing_options.hpp"
#include "engine/waiter.hpp"

namespace mpiacq::tracing {

namespace {

/// The answer for many, given when the last one has its own. Every part is answered once, so it ends itself with the
/// last: a part is two words then, and needs no memory of its own.
class shared_answer {
 public:
  [[nodiscard]] static shared_answer* create(std::size_t count, reply<std::vector<result<void>>> answer) {
    return new shared_answer(count, std::move(answer));
  }
  void put(std::size_t which, result<void> outcome) {
    outcomes_[which] = std::move(outcome);
    if (--missing_ > 0) return;
    const std::unique_ptr<shared_answer> last(this);
    answer_(std::move(outcomes_));
  }
  [[nodiscard]] reply<void> part(std::size_t which) {
    return [all = this, which](result<void> outcome) { all->put(which, std::move(outcome)); };
  }

 private:
  shared_answer(std::size_t count, reply<std::vector<result<void>>> answer)
      : outcomes_(count), missing_(count), answer_(std::move(answer)) {}
  std::vector<result<void>> outcomes_;
  std::size_t missing_;
  reply<std::vector<result<void>>> answer_;
};

constexpr auto leader_interval_among_many = std::chrono::milliseconds(100);

/// So many in a row that have not stopped yet are asked before it is left to them to tell.
constexpr int most_asked_in_vain = 8;
/// As often those that have not stopped are given the core, as long as it helps.
constexpr int most_rounds = 64;

}  // namespace

void engine::attach_all(const std::vector<attach_target>& targets, attach_options options,
                        reply<std::vector<result<void>>> answer) {
  if (targets.empty()) return answer({});
  auto* const all = shared_answer::create(targets.size(), std::move(answer));
  folders_.drop_ended();
  std::vector<traced_process*> begun;
  begun.reserve(targets.size());
  processes_.reserve(processes_.size() + targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    auto process = begin_attach_to(targets[i], options);
    if (process) {
      (*process)->attaching->answer = all->part(i);
      begun.push_back(*process);
    } else {
      all->put(i, fail(std::move(process).error()));
    }
  }
  thread_seizer seizer(calls_, 0, false);
  const auto slow = std::stable_partition(begun.begin(), begun.end(),
                                          [&](traced_process* process) { return seize_quickly(*process, seizer); });
  take_stops_in_silence(std::span(begun.begin(), slow));
  // One may vanish by this, and no other.
  std::for_each(slow, begun.end(), [&](traced_process* process) { go_on_attaching(*process); });
}

result<traced_process*> engine::begin_attach_to(const attach_target& target, attach_options options) {
  const std::int64_t number = target.process.value();
  const auto id = static_cast<pid_t>(number);
  const bool is_known = id == number && id > 0 && folders_.know(id, target.start_time);
  if (!is_known) {
    if (auto why_not = not_to_be_attached(number)) return fail(std::move(*why_not));
    if (target.start_time && read_start_time(id) != target.start_time) return fail(replaced_process(id));
  }
  if (target.user && folders_.effective_user(id) != *target.user) return fail(other_users_process(id, *target.user));
  auto begun = begin_attach(id, options);
  if (!begun) return begun;
  (*begun)->attaching->start_time = target.start_time;
  (*begun)->attaching->user = target.user;
  (*begun)->attaching->is_known = is_known;
  return begun;
}

/// All threads that are there, if nothing hinders it. False where it has to be done another way.
bool engine::seize_quickly(traced_process& process, thread_seizer& seizer) {
  // One that was left a while ago may have threads that have not come back yet.
  if (!process.attaching->is_known || !process.threads.empty()) return false;
  const auto count = folders_.last_count(process.id);
  if (!count) return false;
  const unsigned long options = process.sees_forks ? base_options | fork_options : base_options;
  if (calls_.raw(PTRACE_SEIZE, process.id, 0, options) < 0) return false;
  add_thread(process, process.id);
  if (*count == 1) return true;
  seizer.turn_to(process.id);
  for (const pid_t task : folders_.list(process.id)) {
    if (task != process.id && seizer.try_seize(task, options)) add_thread(process, task);
  }
  for (const pid_t task : seizer.take_ended()) drop_thread(process, task);
  return true;
}

void engine::interrupt_all(traced_process& process) {
  for (const auto& [task, thread] : process.threads) {
    static_cast<void>(calls_.raw(PTRACE_INTERRUPT, task, 0, 0));
    expected_.push_back(task);
  }
  await_stop(process);
  // Leaders that become zombies are rare, and while many stop it takes a moment until all have been heard.
  process.look_at_leader += leader_interval_among_many;
}

/// Every thread is ours and has stopped, as the number of them shows without a look at each. It is a last look as the
/// one in go_on_attaching: who is stopped neither makes threads nor ends. That the leader is ours still, and stopped,
/// shows that none who was not ours has taken its place with an exec before they were counted: has_its_leader, or
/// end_silence for many.
bool engine::has_all_by_count(const traced_process& process) {
  const auto leader = process.threads.find(process.id);
  const bool stopped = leader != process.threads.end() &&
                       std::all_of(process.threads.begin(), process.threads.end(),
                                   [](const auto& t) { return t.second.state == thread_state::stopped; });
  if (!stopped) return false;
  return folders_.count_threads(process.id) == static_cast<int>(process.threads.size());
}

/// It was in a stop of ours, and still is.
bool engine::has_its_leader(const traced_process& process) const {
  unsigned long message = 0;
  return calls_.raw(PTRACE_GETEVENTMSG, process.id, 0, reinterpret_cast<unsigned long>(&message)) >= 0;
}

/// Its number was another's when it was asked for.
bool engine::is_another(const traced_process& process) {
  const attach_request& request = *process.attaching;
  if (!request.start_time || (request.is_known && folders_.count_threads(process.id))) return false;
  const auto now = read_start_time(process.id);
  return now && now != request.start_time;
}

engine::expected engine::ask_expected(pid_t task) {
  const auto known = process_of_.find(task);
  if (known == process_of_.end() || known->second->now != phase::stopping) return expected::not_awaited;
  const auto thread = known->second->threads.find(task);
  const bool awaited = thread != known->second->threads.end() && thread->second.state == thread_state::running;
  if (!awaited) return expected::not_awaited;
  const auto report = waiter::next_of(task);
  if (!report) return expected::silent;
  on_status(report->task, report->status);
  // By the end of a thread its leader may come to have news, of which nobody is told (a program that signals none).
  if (std::holds_alternative<ended>(report->status)) waiter::look_again();
  return expected::told;
}

void engine::take_expected() {
  std::vector<pid_t> asked;
  asked.swap(expected_);
  int in_vain = 0;
  for (auto task = asked.begin(); task != asked.end(); ++task) {
    if (in_vain == most_asked_in_vain) {
      expected_.insert(expected_.end(), task, asked.end());
      return;
    }
    const expected outcome = ask_expected(*task);
    if (outcome == expected::told) in_vain = 0;
    if (outcome != expected::silent) continue;
    expected_.push_back(*task);
    ++in_vain;
  }
}

/// All of them are seized and not interrupted yet.
void engine::take_stops_in_silence(std::span<traced_process* const> all) {
  if (all.empty()) return;
  stops_are_silent_ = true;
  waiter::signal_stops(false);
  for (traced_process* process : all) interrupt_all(*process);
  std::size_t missing = 0;
  for (int round = 0; round < most_rounds; ++round) {
    take_expected();
    if (expected_.empty() || expected_.size() == missing) break;
    missing = expected_.size();
    ::sched_yield();
  }
  end_silence();
}

/// A leader that another thread replaces with an exec has ended before that, and its end is signalled to its tracer
/// before the other one can take its place (exit_notify, de_thread): so where no signal waits, all that were counted
/// have their own.
void engine::end_silence() {
  const bool somebody_ended = waiter::is_signalled();
  waiter::signal_stops(true);
  stops_are_silent_ = false;
  for (const pid_t id : std::exchange(counted_, {})) {
    const auto found = processes_.find(id);
    if (found == processes_.end() || !found->second.attaching || found->second.now != phase::stopping) continue;
    if (somebody_ended) {
      go_on_attaching(found->second);
    } else {
      finish_attach(found->second);
    }
  }
  if (anybody_runs()) waiter::look_again();
}

bool engine::anybody_runs() const {
  if (!newborn_.empty()) return true;
  return std::any_of(processes_.begin(), processes_.end(), [](const auto& entry) {
    const auto& threads = entry.second.threads;
    return std::any_of(threads.begin(), threads.end(),
                       [](const auto& t) { return t.second.state != thread_state::stopped; });
  });
}

void engine::detach_all(const std::vector<process_id>& ids, leave how, reply<std::vector<result<void>>> answer) {
  if (ids.empty()) return answer({});
  auto* const all = shared_answer::create(ids.size(), std::move(answer));
  // Those that run stop meanwhile.
  for (std::size_t i = 0; i < ids.size(); ++i) detach(ids[i], how, all->part(i));
}

std::vector<result<std::vector<thread_registers>>> engine::registers(const std::vector<process_id>& ids,
                                                                     which_threads which) {
  std::vector<result<std::vector<thread_registers>>> all;
  all.reserve(ids.size());
  for (const process_id id : ids) all.push_back(registers_of(id, which));
  return all;
}

result<std::vector<thread_registers>> engine::registers_of(process_id id, which_threads which) {
  const auto process = find_held(id, "have its registers read");
  if (!process) return fail(process.error());
  std::vector<thread_registers> all;
  for (const auto& [task, thread] : (*process)->threads) {
    if (thread.state != thread_state::stopped || (which == which_threads::first && task != (*process)->id)) continue;
    auto registers = arch::general_registers(calls_, task);
    if (!done_or_gone(registers)) return fail(std::move(registers).error());
    if (registers) all.push_back(*registers);
  }
  return all;
}

}  // namespace mpiacq::tracing

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Fakes of what surrounds the parts of a job, and the few real processes that they need.
#pragma once

#include <csignal>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"
#include "parts/daemon_watch.hpp"
#include "parts/gate_decisions.hpp"
#include "parts/job_event_queue.hpp"
#include "parts/job_timers.hpp"
#include "parts/local_gates.hpp"
#include "parts/mpi2dd_events.hpp"
#include "parts/trap_control.hpp"

namespace mpiacq::test {

/// A clock that a test moves.
struct fake_clock {
  deadline now = deadline{} + std::chrono::hours(1);
  void advance(clock::duration by) { now += by; }
  [[nodiscard]] job_timers timers() {
    return job_timers([this] { return now; });
  }
};

/// All events of the queue, taken out.
inline std::vector<job_event> take_all(job_event_queue& events) {
  std::vector<job_event> all;
  while (auto event = events.take()) all.push_back(std::move(*event));
  return all;
}
/// The messages of all notices, taken out with all other events.
inline std::vector<std::string> take_notices(job_event_queue& events) {
  std::vector<std::string> all;
  for (const job_event& event : take_all(events)) {
    if (const auto* notice = std::get_if<job_notice>(&event)) all.push_back(notice->what.message);
  }
  return all;
}

struct fake_children final : child_source {
  std::vector<process_id> children;
  std::uint64_t faults = 0;
  std::vector<process_id> children_of(process_id) const override { return children; }
  std::uint64_t faults_of_ended_children(process_id) const override { return faults; }
};

struct fake_gate_opener final : gate_opener {
  std::map<process_id, result<bool>> answers;  ///< a process without an answer has no gate
  std::vector<process_id> asked;
  result<bool> open_gate(process_id rank) override {
    asked.push_back(rank);
    const auto found = answers.find(rank);
    return found == answers.end() ? result<bool>(false) : found->second;
  }
};

struct fake_origins final : rank_origins {
  std::map<process_id, process_id> spawned_by;  ///< other ranks are the starter's
  std::map<process_id, mpi2dd::flag_set<mpi2dd::mpi_flag>> flags;
  rank_origin origin_of(std::string_view, process_id rank) const override {
    const auto found = spawned_by.find(rank);
    return found == spawned_by.end() ? rank_origin{} : rank_origin{true, found->second};
  }
  mpi2dd::flag_set<mpi2dd::mpi_flag> flags_of(process_id process) override { return flags[process]; }
};

struct fake_event_graph final : event_graph {
  std::shared_ptr<const process_table> ranks = std::make_shared<const process_table>();
  bool is_before_start = false;
  std::vector<process_abort> aborts;
  result<table_change> change = table_change{};
  std::vector<std::string> reads;  ///< "walk 7", "own 7", "all 7"

  result<table_change> walk_from(process_id process) override { return answer("walk", process); }
  result<table_change> reread(process_id raised_by, const mpi2dd::table_selection&) override {
    return answer("own", raised_by);
  }
  result<table_change> reread_what_changed(process_id raised_by, const mpi2dd::table_selection&) override {
    return answer("all", raised_by);
  }
  const std::shared_ptr<const process_table>& table() const override { return ranks; }
  bool is_starter_before_start(process_id) const override { return is_before_start; }
  std::vector<process_abort> aborts_here() override { return aborts; }

 private:
  result<table_change> answer(const std::string& how, process_id process) {
    reads.push_back(how + " " + std::to_string(process.value()));
    return change;
  }
};

/// Writes down what it is asked for. `at_each_call` sees the process as it is then.
struct fake_traps final : trap_control {
  std::vector<std::string> calls;
  std::function<void()> at_each_call = [] {};
  result<void> answer;

  result<breakpoint_kind> insert_breakpoint(process_id, target_address, breakpoint_kind kind) override {
    if (auto done = note("insert breakpoint"); !done) return fail(std::move(done).error());
    return kind;
  }
  result<void> remove_breakpoint(process_id, target_address) override { return note("remove breakpoint"); }
  result<void> insert_watchpoint(process_id, target_address, std::size_t) override { return note("insert watchpoint"); }
  result<void> remove_watchpoint(process_id, target_address) override { return note("remove watchpoint"); }
  result<void> restore_on_exit(process_id, target_address, std::span<const std::byte> bytes) override {
    std::string what = "restore";
    for (const std::byte one : bytes) what += " " + std::to_string(std::to_integer<int>(one));
    return note(what);
  }

 private:
  result<void> note(const std::string& call) {
    at_each_call();
    calls.push_back(call);
    return answer;
  }
};

/// A child of the test that waits for a signal. It is killed at the end.
class waiting_child {
 public:
  waiting_child() {
    // Signals that come early wait until the child does not have the test runner's handlers any more.
    sigset_t all, before;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before);
    pid_ = ::fork();
    if (pid_ == 0) {
      for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) ::signal(signal, SIG_DFL);
      ::sigprocmask(SIG_SETMASK, &before, nullptr);
      while (true) ::pause();
    }
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
  }
  ~waiting_child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  waiting_child(const waiting_child&) = delete;
  waiting_child& operator=(const waiting_child&) = delete;

  [[nodiscard]] process_id pid() const { return process_id{pid_}; }
  /// Waits for its end. The signal that ended it.
  int signal_at_end() {
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  void stop() {
    ::kill(pid_, SIGSTOP);
    ::waitpid(pid_, nullptr, WUNTRACED);
  }

 private:
  pid_t pid_ = -1;
};

}  // namespace mpiacq::test

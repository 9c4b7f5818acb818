// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A job that runs before we come, and what the kernel says of it: the oracle of attach mode.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "run_command.hpp"

namespace mpiacq::test {

/// How a job ended, and what it had said by then.
struct job_end {
  bool timed_out = false;
  int status = -1;  ///< as wait(2) gave it
  std::string out;

  /// As a shell's $?.
  [[nodiscard]] int as_shell() const;
  /// Whether every rank has said that it came to its own end.
  [[nodiscard]] bool all_ranks_ended(std::size_t ranks) const;
};

/// A starter in the background, started by nobody but the test, whose ranks (rank_program's) have said who they are and
/// run until they are told.
class running_job {
 public:
  /// `command` ends with the ranks' program and its options; "--stay" is put behind. Returns when `ranks` ranks have
  /// said their pids, or none will any more.
  running_job(std::vector<std::string> command, std::size_t ranks);
  /// Whatever is left of it is killed.
  ~running_job();
  running_job(const running_job&) = delete;
  running_job& operator=(const running_job&) = delete;

  [[nodiscard]] pid_t pid() const { return starter_; }
  [[nodiscard]] std::string pid_text() const { return std::to_string(starter_); }
  /// What each rank said its pid is.
  [[nodiscard]] const std::map<long, long>& ranks() const { return ranks_; }
  /// What it has said so far.
  [[nodiscard]] const std::string& out() const { return out_; }

  /// The processes of it, by number, that are stopped or traced, with their states; empty where none is.
  [[nodiscard]] std::string disturbed() const;

  /// Lets the ranks end, and waits for the starter and for the end of its output.
  [[nodiscard]] job_end finish();
  /// Waits for them without letting the ranks end.
  [[nodiscard]] job_end wait();

 private:
  bool read_more(std::chrono::steady_clock::time_point until);

  scratch_folder folder_;
  int hold_ = -1;    ///< keeps the ranks' FIFO open
  int output_ = -1;  ///< the starter's standard output and error
  pid_t starter_ = -1;
  bool ended_ = false;
  std::string out_;
  std::map<long, long> ranks_;
};

/// Of one thread or process, from /proc/PID/status.
struct task_status {
  char state = ' ';  ///< ' ': there is none
  long tracer = 0;
};
[[nodiscard]] task_status status_of_task(const std::string& proc_folder);
/// Empty where no thread of it is stopped or traced.
[[nodiscard]] std::string disturbed_threads(long pid);

/// Stopped as by SIGSTOP, and traced by nobody.
[[nodiscard]] bool is_stopped(long pid);
/// The ranks that are; waits until that is true of so many, for what has been told to stop may have to be scheduled for
/// it.
[[nodiscard]] std::set<long> ranks_stopped(const std::map<long, long>& ranks, std::size_t expected);

/// The bytes of a process at the address that `nm -D` gives for a symbol of one of its modules (named by a part of its
/// path), moved by where the kernel has mapped that; empty where there is no such symbol or process.
[[nodiscard]] std::string bytes_of_symbol(pid_t pid, const std::string& module, const std::string& symbol);
/// The same as a C int of this machine; -1 where there is none.
[[nodiscard]] int int_of_symbol(pid_t pid, const std::string& module, const std::string& symbol);
/// All executable code of a module and all its variables whose names begin with "MPIR_", as they are now.
[[nodiscard]] std::string image_of(pid_t pid, const std::string& module);

/// A process that is started and killed or waited for by hand; its standard streams are files, or nowhere.
[[nodiscard]] pid_t start_process(const std::vector<std::string>& arguments, const std::string& output_file = "");
/// Waits; false where it has not ended by then.
[[nodiscard]] bool wait_for_process(pid_t pid, int& status, std::chrono::seconds limit);

}  // namespace mpiacq::test

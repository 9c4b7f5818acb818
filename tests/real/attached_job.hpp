// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the tests of attach on real starters share: the command, and what it leaves behind.
#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "openmpi.hpp"
#include "running_job.hpp"

namespace mpiacq::test {

/// `mpiacq attach --json` with these options.
inline command_outcome attach_json(const std::vector<std::string>& options, const std::string& job) {
  std::vector<std::string> line = {MPIACQ_COMMAND, "attach", "--json"};
  line.insert(line.end(), options.begin(), options.end());
  line.push_back(job);
  return run_command(line, openmpi_options());
}

/// Lets the ranks come to their own end, and checks that the starter then ends with exit status 3.
inline void check_its_own_end(running_job& job) {
  const job_end end = job.finish();
  INFO(end.out);
  CHECK_FALSE(end.timed_out);
  CHECK(end.as_shell() == 3);
  CHECK(end.all_ranks_ended(job.ranks().size()));
}

inline void continue_all(const running_job& job) {
  ::kill(job.pid(), SIGCONT);
  for (const auto& [rank, pid] : job.ranks()) ::kill(static_cast<pid_t>(pid), SIGCONT);
}

/// The command that attaches to a job and stays to its end. The constructor returns when the command has written its
/// report, a JSON document.
class staying_attach {
 public:
  explicit staying_attach(const running_job& job) : job_(job.pid_text()) {
    id_ = start_process({MPIACQ_COMMAND, "attach", "--json", "--then", "continue", "-o", folder_.path("report"), job_},
                        folder_.path("said"));
    REQUIRE(comes_true([&] { return !report().empty(); }));
  }
  [[nodiscard]] pid_t pid() const { return id_; }
  [[nodiscard]] std::string report() const { return file_contents(folder_.path("report")); }
  /// Checks that the command ends well after `check_its_own_end`, and that it says how the starter ended.
  void check_end() const {
    int status = 0;
    REQUIRE(wait_for_process(id_, status, patience));
    CHECK(status == 0);
    CHECK_THAT(file_contents(folder_.path("said")), ContainsSubstring("(pid " + job_ + ") ended: exit status 3"));
  }

 private:
  std::string job_;
  scratch_folder folder_;
  pid_t id_ = -1;
};

/// Checks that no rank runs any more. A rank may be a zombie until the process that inherits it waits for it.
inline void check_ranks_are_gone(const running_job& job) {
  for (const auto& [rank, pid] : job.ranks()) {
    CHECK(comes_true([pid = pid] { return process_state(pid) == ' ' || process_state(pid) == 'Z'; }));
  }
}

}  // namespace mpiacq::test

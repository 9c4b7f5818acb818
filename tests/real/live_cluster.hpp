// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// slurm_cluster for as long as a test needs it.
#pragma once

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "running_job.hpp"

namespace mpiacq::test {

/// Two Slurm nodes on this machine, for the srun commands of this process.
class live_cluster {
 public:
  live_cluster() {
    const std::string up = folder_.path("up");
    const std::string hold = folder_.path("hold");
    if (::mkfifo(up.c_str(), 0600) != 0 || ::mkfifo(hold.c_str(), 0600) != 0) return;
    hold_ = ::open(hold.c_str(), O_RDWR | O_CLOEXEC);
    // Its command says that it is up, and holds it up until we close our end.
    cluster_ = start_process({MPIACQ_SLURM_CLUSTER, "run", "--", "sh", "-c",
                              "echo \"$SLURM_CONF\" > \"$0\"; exec cat \"$1\"", folder_.path("configuration"), hold},
                             folder_.path("said"));
    const auto come_up = [&] { return !configuration().empty() || has_ended(); };
    // It gives up by itself after half a minute.
    while (!comes_true(come_up)) continue;
    ::setenv("SLURM_CONF", configuration().c_str(), 1);
  }
  ~live_cluster() {
    if (hold_ >= 0) ::close(hold_);
    int status = 0;
    if (cluster_ > 0 && !ended_ && !wait_for_process(cluster_, status, patience)) {
      ::kill(cluster_, SIGTERM);
      ::waitpid(cluster_, &status, 0);
    }
    ::unsetenv("SLURM_CONF");
  }
  live_cluster(const live_cluster&) = delete;
  live_cluster& operator=(const live_cluster&) = delete;

  [[nodiscard]] bool is_up() const { return !ended_ && !configuration().empty(); }
  /// It says why it cannot run on this machine, as against that it should have and did not.
  [[nodiscard]] bool cannot_run() const {
    constexpr int skipped = 77;
    return ended_ && WIFEXITED(status_) && WEXITSTATUS(status_) == skipped;
  }
  /// What it said.
  [[nodiscard]] std::string said() const { return file_contents(folder_.path("said")); }

 private:
  [[nodiscard]] std::string configuration() const {
    const std::string text = file_contents(folder_.path("configuration"));
    return text.ends_with('\n') ? text.substr(0, text.size() - 1) : "";
  }
  bool has_ended() {
    ended_ = ended_ || ::waitpid(cluster_, &status_, WNOHANG) == cluster_;
    return ended_;
  }

  scratch_folder folder_;
  pid_t cluster_ = -1;
  int hold_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

}  // namespace mpiacq::test

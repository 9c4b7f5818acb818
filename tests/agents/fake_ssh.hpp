// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Hosts that are names for this machine: what is called ssh here is a script that runs the remote command where it is,
// so that agents are the real program.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catch.hpp"
#include "mpiacq/job_ranks.hpp"
#include "run_command.hpp"
#include "unique_fd.hpp"

namespace mpiacq::test {

/// In front of PATH while it lives: an `ssh` that knows all hosts but "away"; "silent" says nothing, "killed" ends by a
/// signal, and those called "late..." wait for `let_late_ones_come`.
class fake_ssh {
 public:
  fake_ssh() : path_(::getenv("PATH")) {
    std::ofstream(folder_.path("ssh")) << "#!/bin/sh\n"
                                          "while [ \"$1\" != -- ]; do shift; done\n"
                                          "host=$2\n"
                                          "shift 2\n"
                                          "[ \"$host\" = away ] && { echo 'ssh: no route to away' >&2; exit 255; }\n"
                                          "[ \"$host\" = silent ] && exec tail -f /dev/null\n"
                                          "[ \"$host\" = killed ] && kill -KILL $$\n"
                                          "case $host in late*) read -r go <"
                                       << folder_.path("gate") << " ;; esac\n"
                                       << "echo $$ > " << folder_.path("pid.") << "$host\n"
                                       << "exec sh -c \"exec $*\"\n";
    ::chmod(folder_.path("ssh").c_str(), 0755);
    ::mkfifo(folder_.path("gate").c_str(), 0600);
    gate_ = helper::unique_fd{::open(folder_.path("gate").c_str(), O_RDWR | O_CLOEXEC)};
    ::setenv("PATH", (folder_.path("") + ":" + path_).c_str(), 1);
  }
  ~fake_ssh() { ::setenv("PATH", path_.c_str(), 1); }
  fake_ssh(const fake_ssh&) = delete;
  fake_ssh& operator=(const fake_ssh&) = delete;

  void let_late_ones_come(std::size_t count) const {
    const std::string lines(count, '\n');
    REQUIRE(::write(gate_.get(), lines.data(), lines.size()) == static_cast<ssize_t>(lines.size()));
  }
  [[nodiscard]] pid_t agent_of(const std::string& host) const {
    return std::atoi(file_contents(folder_.path("pid." + host)).c_str());
  }
  [[nodiscard]] agents_options agents() const {
    agents_options how;
    how.start = agent_start::ssh;
    how.program = MPIACQ_AGENT;
    how.secret_folder = folder_.path(".");
    how.munge_socket = folder_.path("no-socket");
    how.start_limit = std::chrono::seconds(20);
    return how;
  }
  [[nodiscard]] job_ranks_options options() const { return {{}, agents()}; }
  /// Files of secrets that are still there.
  [[nodiscard]] std::size_t secrets() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path(".")))
      count += entry.path().filename().string().starts_with(".mpiacq") ? 1U : 0U;
    return count;
  }

 private:
  std::string path_;
  scratch_folder folder_;
  helper::unique_fd gate_;
};

}  // namespace mpiacq::test

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Host names for this machine. The `ssh` of these tests is a script that runs the remote command here, so that agents
// are the real program.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catch.hpp"
#include "descriptors/unique_fd.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "patience.hpp"
#include "run_command.hpp"

namespace mpiacq::test {

/// While the object lives, a folder at the front of PATH has an `ssh` that knows all hosts except "away". For "silent"
/// it prints nothing, for "killed" a signal ends it, and for "late..." it waits for `let_late_ones_come`.
class fake_ssh {
 public:
  fake_ssh() : path_(::getenv("PATH")) {
    add("ssh", R"(while [ "$1" != -- ]; do shift; done
host=$2
shift 2
[ "$host" = away ] && { echo 'ssh: no route to away' >&2; exit 255; }
[ "$host" = silent ] && exec tail -f /dev/null
[ "$host" = killed ] && kill -KILL $$
echo begin >> $folder/log
case $host in late*) read -r go <$folder/gate ;; esac
echo $$ > $folder/pid.$host
exec sh -c "exec $*"
)");
    ::mkfifo(folder_.path("gate").c_str(), 0600);
    gate_ = base::unique_fd{::open(folder_.path("gate").c_str(), O_RDWR | O_CLOEXEC)};
    ::setenv("PATH", (folder_.path("") + ":" + path_).c_str(), 1);
  }
  ~fake_ssh() { ::setenv("PATH", path_.c_str(), 1); }
  fake_ssh(const fake_ssh&) = delete;
  fake_ssh& operator=(const fake_ssh&) = delete;

  /// Adds another command to the folder, a script that can use `$folder`. Each run is recorded in `called`.
  void add(const std::string& name, const std::string& script) const {
    std::ofstream(folder_.path(name)) << "#!/bin/sh\nfolder=" << folder_.path(".") << "\necho " << name
                                      << " >> $folder/called\n"
                                      << script;
    ::chmod(folder_.path(name).c_str(), 0755);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path(name); }
  /// The names of the commands that were run, one per line, in order.
  [[nodiscard]] std::string called() const { return file_contents(folder_.path("called")); }
  /// "begin" for each run of ssh, and what other commands wrote there.
  [[nodiscard]] std::string log() const { return file_contents(folder_.path("log")); }

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
    how.start_limit = patience;
    return how;
  }
  [[nodiscard]] rank_options options() const {
    rank_options how;
    how.agents = agents();
    return how;
  }
  /// The number of files with secrets that still exist.
  [[nodiscard]] std::size_t secrets() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path(".")))
      count += entry.path().filename().string().starts_with(".mpiacq") ? 1U : 0U;
    return count;
  }

 private:
  std::string path_;
  scratch_folder folder_;
  base::unique_fd gate_;
};

}  // namespace mpiacq::test

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A munged for one test, with a key and a socket in a scratch folder.
#pragma once

#include <string>

#include <sys/stat.h>

#include "run_command.hpp"

namespace mpiacq::test {

class private_munge {
 public:
  private_munge() {
    // munged demands that all users can reach its socket.
    ::chmod(folder_.path(".").c_str(), 0755);
    const std::string made =
        "umask 077 && head -c 64 /dev/urandom > munge.key && exec munged --force --num-threads=2 "
        "--socket=$PWD/socket --key-file=$PWD/munge.key --log-file=$PWD/log --pid-file=$PWD/pid --seed-file=$PWD/seed";
    // The command ends when the daemon answers.
    const auto begun = run_command({"sh", "-c", "PATH=$PATH:/usr/sbin; " + made}, options());
    why_not_ = begun.exit_code == 0 ? "" : "no munged of the test's own: " + begun.err;
  }
  ~private_munge() {
    if (why_not_.empty())
      static_cast<void>(
          run_command({"sh", "-c", "PATH=$PATH:/usr/sbin; munged --stop --socket=$PWD/socket"}, options()));
  }
  private_munge(const private_munge&) = delete;
  private_munge& operator=(const private_munge&) = delete;

  /// Why munged does not run; empty: it runs.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  [[nodiscard]] std::string socket() const { return folder_.path(".") + "/socket"; }

 private:
  [[nodiscard]] command_options options() const {
    command_options how;
    how.directory = folder_.path(".");
    return how;
  }
  scratch_folder folder_;
  std::string why_not_;
};

}  // namespace mpiacq::test

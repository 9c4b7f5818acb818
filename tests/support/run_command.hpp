// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

#include "patience.hpp"

namespace mpiacq::test {

/// How a command ended, and its output.
struct command_outcome {
  bool timed_out = false;  ///< it was killed by the test's own deadline
  int exit_code = -1;      ///< -1 if a signal ended it
  int signal = 0;
  std::string out;
  std::string err;
};

struct command_options {
  std::map<std::string, std::string> environment;  ///< added to the test's own
  std::string directory;                           ///< empty: the test's own
  std::chrono::seconds limit = patience;
  bool as_nobody = false;          ///< drops root's rights if the test has them
  std::function<void()> in_child;  ///< runs in the new process, directly before the program
};

/// A running program, started as from a user's shell. Standard input is /dev/null.
class running_command {
 public:
  explicit running_command(const std::vector<std::string>& arguments, command_options options = {});
  /// Kills the program if nothing has waited for it.
  ~running_command();
  running_command(const running_command&) = delete;
  running_command& operator=(const running_command&) = delete;

  [[nodiscard]] pid_t pid() const { return child_; }
  /// Reads standard error until it contains the text. Returns false if the stream ends, or the limit passes, before.
  [[nodiscard]] bool complains(const std::string& text);
  /// Waits for the end of the program and of its output. Until then, output beyond the size of a pipe blocks the
  /// program.
  [[nodiscard]] command_outcome wait();

 private:
  command_options options_;
  pid_t child_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::string err_seen_;  ///< what `complains` has read of standard error
};

/// Runs a program, and waits for it and for the end of its output.
[[nodiscard]] command_outcome run_command(const std::vector<std::string>& arguments,
                                          const command_options& options = {});

/// Whether a program is in a folder of PATH, or in one of those for the administrator's programs.
[[nodiscard]] bool is_installed(const std::string& program);

/// A temporary folder. The destructor removes it with its contents.
class scratch_folder {
 public:
  scratch_folder();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

/// All bytes of a file; empty if there is no such file.
[[nodiscard]] std::string file_contents(const std::string& path);

/// A fixture's oracle: the file with one "key value" per line that the fixture wrote. For equal keys the last line
/// counts.
[[nodiscard]] std::map<std::string, std::string> read_oracle(const std::string& path);

/// The state letter in /proc of a process ('R', 'S', 'T', 't', 'Z' ...); ' ' if there is no such process.
[[nodiscard]] char process_state(long pid);

/// Waits until the condition holds. Returns false if it does not in time (patience.hpp). It is for changes in another
/// process that give no notice; a pipe or a status to wait for is better.
[[nodiscard]] bool comes_true(const std::function<bool()>& condition);

}  // namespace mpiacq::test

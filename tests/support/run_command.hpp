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

/// How a command ended and what it said.
struct command_outcome {
  bool timed_out = false;  ///< it was killed by the test's own deadline
  int exit_code = -1;      ///< -1 where a signal ended it
  int signal = 0;
  std::string out;
  std::string err;
};

struct command_options {
  std::map<std::string, std::string> environment;  ///< added to the test's own
  std::string directory;                           ///< empty: the test's own
  std::chrono::seconds limit = patience;
  bool as_nobody = false;          ///< without root's rights, where the test has them
  std::function<void()> in_child;  ///< in the new process, last before the program runs
};

/// A program that runs, as from a person's shell. Standard input is /dev/null.
class running_command {
 public:
  explicit running_command(const std::vector<std::string>& arguments, command_options options = {});
  /// Kills it where nobody has waited for it.
  ~running_command();
  running_command(const running_command&) = delete;
  running_command& operator=(const running_command&) = delete;

  [[nodiscard]] pid_t pid() const { return child_; }
  /// Reads standard error until it contains the text. False if the stream ends, or the limit passes, before.
  [[nodiscard]] bool complains(const std::string& text);
  /// Until it has ended, and its output too. More output than a pipe holds waits for this.
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

/// A folder that goes away with everything in it.
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

/// All of a file's bytes; empty where there is none.
[[nodiscard]] std::string file_contents(const std::string& path);

/// A fixture's oracle: what it wrote down, "key value" a line. A later line takes the place of an earlier one.
[[nodiscard]] std::map<std::string, std::string> read_oracle(const std::string& path);

/// The state letter that /proc gives a process ('R', 'S', 'T', 't', 'Z' ...); ' ' where there is none.
[[nodiscard]] char process_state(long pid);

/// Waits until the condition holds; false where it does not in time (patience.hpp). For what another process does
/// without telling anybody: where there is a pipe or a status to wait for, that is better.
[[nodiscard]] bool comes_true(const std::function<bool()>& condition);

}  // namespace mpiacq::test

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <poll.h>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/ranks/rank_selection.hpp"

namespace mpiacq::tool {

/// The values of {rank}, {world}, {pid}, {host} and {exe}.
struct command_subject {
  std::string rank;   ///< its name: "3", "1:3"
  std::string world;  ///< comm_world_id; empty with MPIR
  process_id pid;
  std::string host;
  std::string executable;
};

/// `text` with each of the five replaced by its value, quoted for a shell. Other braces stay as they are.
[[nodiscard]] std::string command_for(std::string_view text, const command_subject& subject);

/// The selected ranks of this node that have not gone, and a sentence about those that get no command.
struct command_subjects {
  std::vector<command_subject> subjects;
  std::string left_out;
};
[[nodiscard]] command_subjects subjects_of(const process_table& table, const std::vector<rank_state>& states,
                                           const rank_selection& selected);

/// Called around each command, which may trace its rank: no other process may trace the rank then.
struct command_hooks {
  std::function<bool(process_id)> may_begin;  ///< false: not yet, and it is called again
  std::function<void(process_id)> has_ended;
};

/// Runs a shell command for each of some ranks, a few at a time, and passes on the output of the commands, each line
/// behind its rank: "3: #0  poll () from libc.so.6". It never waits: its owner polls its descriptors.
///
/// The standard input of a command is empty. Each command is a process group of its own, so that Ctrl-C reaches only
/// the job and mpiacq. The destructor sends commands that still run SIGTERM and, after a second, SIGKILL.
class rank_commands {
 public:
  /// Runs `jobs` commands at a time, at least one. Lines go to the descriptor `output`, which must outlive this object.
  rank_commands(std::string text, std::vector<command_subject> subjects, std::size_t jobs, int output,
                command_hooks hooks);
  ~rank_commands();
  rank_commands(const rank_commands&) = delete;
  rank_commands& operator=(const rank_commands&) = delete;

  /// Appends the descriptors to poll.
  void add_to(std::vector<pollfd>& polled) const;
  /// Adds ranks. A rank that has a command already gets no second one.
  void add(std::vector<command_subject> subjects);
  /// Starts no more commands, and sends those that run SIGTERM. A command that was not started counts as failed.
  void stop();
  /// Reads output, notices ends, and starts further commands.
  void serve();
  [[nodiscard]] bool finished() const { return running_.empty() && waiting_.empty(); }
  /// The number of commands that ended with another status than 0, or could not be started.
  [[nodiscard]] std::size_t failures() const { return failures_; }

 private:
  struct running {
    std::string rank;
    process_id subject;
    pid_t pid = -1;
    int process = -1;  ///< a pidfd: readable when it has ended
    int output = -1;   ///< the pipe; -1 after its end
    std::string line;  ///< the beginning of a line
  };

  void start(const command_subject& subject);
  void read_output(running& command);
  void print(const running& command, std::string_view line);
  [[nodiscard]] bool has_ended(running& command);
  void close_all(running& command);

  std::string text_;
  std::deque<command_subject> waiting_;
  std::set<process_id> known_;
  std::vector<running> running_;
  std::size_t jobs_;
  int output_;
  bool reader_keeps_up_ = true;
  command_hooks hooks_;
  std::size_t failures_ = 0;
};

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "start/starter_command.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/programs.hpp"
#include "start/scoped_fd_limit.hpp"

namespace mpiacq::agents {

namespace {

/// Only the end of the output is kept, because it explains a failure.
constexpr std::size_t most_output = 4096;
constexpr int ending_ms = 2000;
constexpr int killing_ms = 500;

/// The word, quoted for a POSIX shell.
std::string quoted(const std::string& word) {
  std::string all = "'";
  for (const char c : word) {
    if (c == '\'') {
      all += "'\\''";
    } else {
      all += c;
    }
  }
  return all + "'";
}

}  // namespace

result<std::unique_ptr<starter_command>> starter_command::run(std::vector<std::string> arguments,
                                                              std::vector<std::string> hosts) {
  std::unique_ptr<starter_command> made(new starter_command);
  made->program_ = arguments.front();
  made->hosts_ = std::move(hosts);
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return fail(
        error{error_code::system, fmt::format("creating a pipe for the output of {}", made->program_)}.with_errno(
            errno));
  made->output_ = base::unique_fd(ends[0]);
  const base::unique_fd theirs(ends[1]);
  base::spawn_plan plan;
  plan.default_signals();
  plan.own_group();
  plan.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  plan.give(STDOUT_FILENO, theirs.get());
  plan.give(STDERR_FILENO, theirs.get());
  // The limit is lowered only here, because a plan refuses descriptors above it.
  const int why = [&] {
    const original_descriptor_limit limit;
    return plan.run_from_path(made->child_, std::move(arguments), environ);
  }();
  if (why != 0) {
    made->child_ = -1;
    return fail(error{why == ENOENT ? error_code::not_found : error_code::system,
                      fmt::format("{} cannot be run to start agents", made->program_)}
                    .with_errno(why)
                    .on(made->program_));
  }
  made->process_ = base::unique_fd(static_cast<int>(::syscall(SYS_pidfd_open, made->child_, 0)));
  return made;
}

starter_command::~starter_command() {
  if (child_ < 0 || ended_) return;
  if (wait_for_end(ending_ms)) return;
  ::kill(-child_, SIGTERM);
  if (wait_for_end(killing_ms)) return;
  ::kill(-child_, SIGKILL);
  ::waitpid(child_, &status_, 0);
}

void starter_command::abandon() {
  if (still_runs()) ::kill(-child_, SIGTERM);
}

bool starter_command::wait_for_end(int limit_ms) {
  pollfd end{process_.get(), POLLIN, 0};
  if (::poll(&end, 1, limit_ms) <= 0) return false;
  return !still_runs();
}

void starter_command::take_output() {
  std::array<char, 4096> bytes{};
  for (;;) {
    const ssize_t size = ::read(output_.get(), bytes.data(), bytes.size());
    if (size <= 0) return;
    output_text_.append(bytes.data(), static_cast<std::size_t>(size));
    if (output_text_.size() > most_output) output_text_.erase(0, output_text_.size() - most_output);
  }
}

bool starter_command::still_runs() {
  if (ended_) return false;
  take_output();
  if (::waitpid(child_, &status_, WNOHANG) != child_) return true;
  ended_ = true;
  take_output();
  return false;
}

std::string starter_command::last_message() const {
  std::string said = output_text_;
  while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.pop_back();
  std::replace(said.begin(), said.end(), '\n', ' ');
  std::string how = program_;
  if (ended_ && WIFEXITED(status_)) how += fmt::format(" ended with status {}", WEXITSTATUS(status_));
  if (ended_ && WIFSIGNALED(status_)) how += fmt::format(" was ended by signal {}", WTERMSIG(status_));
  if (!ended_ && !said.empty()) how += " said";
  if (!ended_ && said.empty()) return {};
  return said.empty() ? how : fmt::format("{}: {}", how, said);
}

bool is_slurm_job_id(std::string_view text) {
  constexpr std::size_t longest = 32;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && text.size() <= longest && is_digit(text.front()) && is_digit(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_digit(c) || c == '_' || c == '+'; });
}

std::vector<std::string> slurm_command(const std::string& job_id, const std::vector<std::string>& hosts,
                                       const std::string& program, const agent_order& order) {
  // --overlap: the job's own step has all processors and memory, and the agents share them.
  std::vector<std::string> all = {"srun",
                                  "--jobid=" + job_id,
                                  "--overlap",
                                  fmt::format("--nodes={}", hosts.size()),
                                  fmt::format("--ntasks={}", hosts.size()),
                                  "--ntasks-per-node=1",
                                  fmt::format("--nodelist={}", fmt::join(hosts, ",")),
                                  "--mem=0",
                                  "--mpi=none",
                                  "--cpu-bind=none",
                                  "--kill-on-bad-exit=0",
                                  "--wait=0",
                                  "--input=none",
                                  "--label",
                                  "--quiet",
                                  program};
  const auto rest = arguments_of(order);
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

std::vector<std::string> ssh_command(const std::string& host, const std::string& program, const agent_order& order) {
  agent_order here = order;
  here.node = host;
  // BatchMode: ssh must not ask for a password or the confirmation of a key.
  std::vector<std::string> all = {"ssh", "-n", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "--", host};
  all.push_back(quoted(program));
  for (const std::string& word : arguments_of(here)) all.push_back(quoted(word));
  return all;
}

}  // namespace mpiacq::agents

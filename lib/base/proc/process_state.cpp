// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "proc/process_state.hpp"

#include <charconv>
#include <climits>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "errors/try.hpp"

namespace mpiacq {

namespace {

constexpr std::size_t most_of_text = 1U << 20;

bool is_sigstop_pending(process_id pid) {
  const auto status = read_process_file(pid, "status", most_of_text);
  if (!status) return false;
  for (const std::string_view name : {"SigPnd", "ShdPnd"}) {  // for the first thread, and for the process
    const auto mask = status_line(*status, name);
    std::uint64_t signals = 0;
    if (mask) std::from_chars(mask->data(), mask->data() + mask->size(), signals, 16);
    if ((signals >> (SIGSTOP - 1) & 1) != 0) return true;
  }
  return false;
}

}  // namespace

result<process_stat> stat_of(process_id pid) {
  const std::string text = TRY(read_process_file(pid, "stat", most_of_stat));
  if (auto stat = parse_process_stat(text)) return std::move(*stat);
  return fail(error_code::process_gone, fmt::format("there is no process {}", pid.value()));
}

run_state state_of(process_id pid) {
  const auto stat = stat_of(pid);
  if (stat) return stat->run();
  return stat.error().code == error_code::process_gone ? run_state::gone : run_state::unknown;
}

bool is_stopped_by_signal(process_id pid) {
  // The state is read after the pending signals: a SIGSTOP that was pending may have stopped the process meanwhile.
  return is_sigstop_pending(pid) || state_of(pid) == run_state::stopped;
}

std::optional<process_id> parent_of(process_id pid) {
  const auto stat = stat_of(pid);
  return stat ? std::optional{stat->parent} : std::nullopt;
}

std::vector<process_id> children_of(process_id pid) {
  std::vector<process_id> all;
  const std::string threads = fmt::format("/proc/{}/task", pid.value());
  std::error_code failure;
  for (std::filesystem::directory_iterator thread(threads, failure), end; !failure && thread != end;
       thread.increment(failure)) {
    const base::unique_fd file{::open((thread->path() / "children").c_str(), O_RDONLY | O_CLOEXEC)};
    std::istringstream children(read_bounded(file, most_of_text).value_or(""));
    for (std::int64_t child = 0; children >> child;) all.emplace_back(child);
  }
  return all;
}

std::uint64_t faults_of_ended_children(process_id pid) {
  const auto stat = stat_of(pid);
  return stat ? stat->faults_of_ended_children : 0;
}

bool is_copy_of(const process_facts& child, const process_facts& parent) {
  // An exec puts them elsewhere (address space layout randomisation), or, if the kernel does not randomise, puts other
  // words there. The kernel shows zeros to a program that may not trace the process.
  if (child.stat().words.front() == 0 || child.stat().words != parent.stat().words) return false;
  const auto same = [](const result<std::string>& a, const result<std::string>& b) { return a && b && *a == *b; };
  return same(child.command_line(), parent.command_line()) && same(child.executable(), parent.executable());
}

std::string executable_of(process_id pid) {
  const auto folder = process_folder::open(pid);
  return folder ? without_deleted_mark(folder->link("exe").value_or("")) : std::string{};
}

bool is_same_program(std::string_view a, std::string_view b) {
  return std::filesystem::path(a).filename() == std::filesystem::path(b).filename();
}

bool runs_program(std::string_view running, std::string_view executable) {
  if (running.empty() || executable.empty()) return false;
  std::error_code ignored;
  const auto meant = std::filesystem::canonical(executable, ignored);
  return is_same_program(running, executable) || (!meant.empty() && meant == running);
}

bool runs_program(process_id pid, std::string_view executable) {
  return runs_program(executable_of(pid), executable);
}

std::optional<std::string> environment_of(process_id pid, std::string_view variable) {
  const auto all = read_process_file(pid, "environ", process_facts::most_words);
  const auto value = all ? variable_in(*all, variable) : std::nullopt;
  return value ? std::optional<std::string>(*value) : std::nullopt;
}

base::unique_fd open_process(process_id pid) {
  if (pid.value() <= 0 || pid.value() > INT_MAX) return {};
  // By number: the C library's wrapper is newer than some systems that mpiacq runs on.
  return base::unique_fd{static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid.value()), 0))};
}

bool is_alive(const base::unique_fd& process) {
  if (!process.is_open()) return true;
  // A pidfd becomes readable when its process ends.
  pollfd end{process.get(), POLLIN, 0};
  return ::poll(&end, 1, 0) <= 0;
}

void signal_process(const base::unique_fd& process, int signal) {
  if (process.is_open()) ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0);
}

}  // namespace mpiacq

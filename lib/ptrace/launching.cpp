// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// From a launch to the entry point.
#include <algorithm>
#include <csignal>

#include <fmt/format.h>
#include <unistd.h>

#include "child_launch.hpp"
#include "engine.hpp"
#include "tracing_options.hpp"

namespace mpiacq::tracing {

namespace {

std::vector<std::string> own_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) all.emplace_back(*entry);
  return all;
}

/// The end of the string as the kernel sees it would be the first null byte: refuse what cannot be passed.
result<void> check(const launch_request& request) {
  if (request.arguments.empty()) return fail(error_code::invalid_argument, "no program was named to launch");
  if (request.arguments.front().empty()) return fail(error_code::not_found, "the program's name is empty");
  const auto has_null = [](const std::string& s) { return s.find('\0') != std::string::npos; };
  const bool bad =
      std::any_of(request.arguments.begin(), request.arguments.end(), has_null) ||
      (request.environment && std::any_of(request.environment->begin(), request.environment->end(), has_null));
  if (bad) return fail(error_code::invalid_argument, "an argument or environment string has a null byte in it");
  return {};
}

}  // namespace

void engine::launch(launch_request request, const sigset_t& signal_mask, reply<process_id> answer) {
  if (auto fine = check(request); !fine) return answer(fail(std::move(fine).error()));
  pending_launch launch;
  launch.candidates = program_candidates(request.arguments.front());
  launch.request = std::move(request);
  launch.signal_mask = signal_mask;
  launch.answer = std::move(answer);
  start_child(std::move(launch));
}

void engine::start_child(pending_launch launch) {
  exec_plan plan;
  plan.candidates = launch.candidates;
  plan.arguments = launch.request.arguments;
  plan.environment = launch.request.environment ? *launch.request.environment : own_environment();
  plan.signal_mask = launch.signal_mask;
  if (launch.through_shell) {
    // As execvp: /bin/sh with the path of the text in place of its name.
    plan.arguments.front() = launch.candidates.front();
    plan.arguments.insert(plan.arguments.begin(), "/bin/sh");
    plan.candidates = {"/bin/sh"};
  }
  auto child = fork_child(plan);
  if (!child) return launch.answer(fail(std::move(child).error()));
  const unsigned long options = launch.request.kill_with_tool ? base_options | PTRACE_O_EXITKILL : base_options;
  if (auto seized = calls_.seize(child->id, options); !seized) {
    ::kill(child->id, SIGKILL);
    waiter::reap(child->id);
    return launch.answer(fail(std::move(seized).error().while_doing("launching " + plan.arguments.front())));
  }
  traced_process& process = processes_[child->id];
  process.id = child->id;
  process.launched = true;
  process.ends_with_tool = launch.request.kill_with_tool;
  process.now = phase::launching;
  add_thread(process, child->id);
  launch.failure = std::move(child->failure);
  process.launch = std::move(launch);
  release_child(*child);
  update_source();
}

void engine::on_launch_exec(traced_process& process) {
  const pending_launch launch = std::move(*process.launch);
  process.launch.reset();
  process.now = phase::running;
  launch.answer(process_id{process.id});
}

void engine::on_launch_end(traced_process& process, const exit_status& status) {
  pending_launch launch = std::move(*process.launch);
  forget(process);
  const std::string name = launch.request.arguments.front();
  const auto failure = read_exec_failure(launch.failure);
  if (!failure) {
    // The kernel kills a program whose file it finds damaged after the point of no return.
    const std::string how = status.signaled ? fmt::format("was ended by signal {}", status.value)
                                            : fmt::format("ended with status {}", status.value);
    return launch.answer(fail(error{
        error_code::exec_failed,
        fmt::format("{}: {} while it was being loaded; its file may be damaged or cut off (readelf -lW)", name, how)}
                                  .on(name)));
  }
  const auto at = static_cast<std::size_t>(failure->candidate);
  if (failure->errno_value == ENOEXEC && !launch.through_shell && at < launch.candidates.size() &&
      is_shell_text(launch.candidates[at])) {
    launch.through_shell = true;
    launch.candidates = {launch.candidates[at]};
    return start_child(std::move(launch));
  }
  launch.answer(fail(exec_error(name, launch.candidates, *failure)));
}

/// The program stands at the first instruction of its loader, or of its own where it is static.
void engine::plan_entry_stop(traced_process& process) {
  const auto entry = program_entry(process.id);
  if (!entry) {
    if (read_task_status(process.id)) report_problem(process, entry.error());
    return;
  }
  auto planted = plant(process, *entry, breakpoint_kind::automatic, &breakpoint::for_entry);
  if (!done_or_gone(planted)) report_problem(process, std::move(planted).error());
  put_back_software(process);
}

}  // namespace mpiacq::tracing

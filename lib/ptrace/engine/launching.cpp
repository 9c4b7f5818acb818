// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/launching.hpp"

#include <algorithm>
#include <csignal>

#include <fmt/format.h>
#include <unistd.h>

#include "engine/fork_reports.hpp"
#include "kernel/proc_files.hpp"
#include "kernel/waiter.hpp"
#include "server/child_launch.hpp"

namespace mpiacq::tracing {

namespace {

/// While this object exists, the tracer server is in the tool's working directory, because a program's name may be
/// relative to it. Otherwise the tracer server is in the root directory, so that it keeps no file system busy.
class in_directory {
 public:
  explicit in_directory(const unique_fd& directory) { static_cast<void>(!::fchdir(directory.get())); }
  ~in_directory() { static_cast<void>(!::chdir("/")); }
  in_directory(const in_directory&) = delete;
  in_directory& operator=(const in_directory&) = delete;
};

/// A string with a null byte cannot be passed: for the kernel it ends there.
result<void> check_order(const launch_order& order) {
  const launch_request& request = order.request;
  if (order.descriptors.size() != order.surroundings.descriptors.size() + 1 || !request.environment) {
    return fail(error_code::invalid_argument, "a launch came without what the program is to inherit");
  }
  if (request.arguments.empty()) return fail(error_code::invalid_argument, "no program was named to launch");
  if (request.arguments.front().empty()) return fail(error_code::not_found, "the program's name is empty");
  const auto has_null = [](const std::string& s) { return s.find('\0') != std::string::npos; };
  const bool bad = std::any_of(request.arguments.begin(), request.arguments.end(), has_null) ||
                   std::any_of(request.environment->begin(), request.environment->end(), has_null);
  if (bad) return fail(error_code::invalid_argument, "an argument or environment string has a null byte in it");
  return {};
}

}  // namespace

void launching::launch(launch_order order, reply<process_id> answer) {
  if (auto fine = check_order(order); !fine) return answer(fail(std::move(fine).error()));
  pending_launch launch;
  launch.candidates = program_candidates(order.request.arguments.front(), order.surroundings.search_path);
  launch.order = std::move(order);
  launch.answer = std::move(answer);
  start_child(std::move(launch));
}

void launching::start_child(pending_launch launch) {
  const launch_request& request = launch.order.request;
  exec_plan plan{launch.candidates,         request.arguments,        *request.environment,
                 launch.order.surroundings, launch.order.descriptors, guard_.has_guard() ? ::getppid() : 0};
  if (launch.through_shell) {
    // Like execvp: runs /bin/sh with the path of the text in place of its name.
    plan.arguments.front() = launch.candidates.front();
    plan.arguments.insert(plan.arguments.begin(), "/bin/sh");
    plan.candidates = {"/bin/sh"};
  }
  auto child = fork_child(plan);
  if (!child) return launch.answer(fail(std::move(child).error()));
  traced_process& process = tracees_.make(child->id);
  process.launched = true;
  process.ends_with_tool = request.kill_with_tool;
  process.follow_children = process.sees_forks = request.follow_children;
  process.now = phase::launching;
  if (auto seized = kernel_.calls.seize(child->id, options_of(process)); !seized) {
    tracees_.erase(process);
    ::kill(child->id, SIGKILL);
    waiter::reap(child->id);
    return launch.answer(fail(std::move(seized).error().while_doing("launching " + plan.arguments.front())));
  }
  tracees_.add_thread(process, child->id);
  guard_.tell(process);
  launch.failure = std::move(child->failure);
  process.launch = std::make_unique<pending_launch>(std::move(launch));
  release_child(*child);
}

void launching::on_exec(traced_process& process) {
  const pending_launch launch = std::move(*process.launch);
  process.launch.reset();
  process.now = phase::running;
  launch.answer(process_id{process.id});
}

void launching::on_end(traced_process& process, const exit_status& status) {
  pending_launch launch = std::move(*process.launch);
  detaching_.forget(process);
  const in_directory there(launch.order.descriptors.front());
  const std::string name = launch.order.request.arguments.front();
  const auto failure = read_exec_failure(launch.failure);
  if (!failure) {
    // The kernel kills a program if it finds its file damaged after the point of no return.
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

void launching::plan_entry_stop(traced_process& process) {
  if (process.only_for_end) return;
  const auto entry = program_entry(process.id);
  if (!entry) {
    if (kernel_.tasks.status(process.id)) events_.report_problem(process.id, entry.error());
    return;
  }
  auto inserted = breakpoints_.insert(process, *entry, breakpoint_kind::automatic, &breakpoint::for_entry);
  if (!done_or_gone(inserted)) events_.report_problem(process.id, std::move(inserted).error());
  guard_.tell(process);
  breakpoints_.put_back_software(process);
}

}  // namespace mpiacq::tracing

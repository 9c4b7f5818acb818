// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "host/helper_process.hpp"

#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "helper/programs.hpp"
#include "separate/queue_messages.hpp"

namespace mpiacq::mqd_host {

namespace {

using base::unique_fd;
constexpr std::string_view what_for = "the process of a queue library";

/// The only variable that the process keeps: the loader needs it to find a library's dependencies.
std::string kept_variable() {
  const char* folders = ::secure_getenv("LD_LIBRARY_PATH");
  return folders == nullptr ? std::string{} : fmt::format("LD_LIBRARY_PATH={}", folders);
}

std::vector<std::string> arguments_for(const std::optional<base::helper_user>& user) {
  std::vector<std::string> all{"mqd-host", "for", std::to_string(::getpid())};
  if (user) {
    all.push_back(std::to_string(user->user));
    all.push_back(std::to_string(user->group));
  }
  return all;
}

}  // namespace

result<helper_process> helper_process::start(const std::string& program, int library,
                                             const std::optional<base::helper_user>& user) {
  auto area = TRY(shared_memory::create());
  auto socket = TRY(base::make_helper_socket(first_free_descriptor, what_for));
  auto output = TRY(base::make_helper_output(first_free_descriptor, what_for));
  const unique_fd memory = base::moved_up(area.descriptor(), first_free_descriptor);
  const unique_fd file = base::moved_up(library, first_free_descriptor);
  if (!memory || !file) {
    return fail(
        error{error_code::system, fmt::format("cannot make the descriptors for {}", what_for)}.with_errno(errno));
  }

  base::spawn_plan plan;
  plan.default_signals();
  plan.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  plan.give(STDOUT_FILENO, output.theirs.get());
  plan.give(STDERR_FILENO, output.theirs.get());
  plan.give(socket_descriptor, socket.theirs.get());
  plan.give(memory_descriptor, memory.get());
  plan.give(library_descriptor, file.get());
  const auto candidates = base::program_candidates("mqd-host", program);
  std::string variable = kept_variable();
  char* environment[] = {variable.empty() ? nullptr : variable.data(), nullptr};
  pid_t id = 0;
  if (const int outcome = plan.run(id, candidates, arguments_for(user), environment); outcome != 0) {
    return fail(base::not_startable("the program that queue libraries run in", candidates, outcome));
  }
  helper_process started(std::move(area), id);
  started.socket_ = std::move(socket.ours);
  started.output_ = std::move(output.ours);
  return started;
}

}  // namespace mpiacq::mqd_host

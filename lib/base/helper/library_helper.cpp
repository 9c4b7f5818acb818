// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "helper/library_helper.hpp"

#include <cerrno>
#include <cstdlib>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "helper/helper_begin.hpp"
#include "helper/programs.hpp"

namespace mpiacq::base {

namespace {

std::string kept_variable() {
  const char* folders = ::secure_getenv("LD_LIBRARY_PATH");
  return folders == nullptr ? std::string{} : fmt::format("LD_LIBRARY_PATH={}", folders);
}

std::vector<std::string> arguments_for(std::string_view name, const std::optional<helper_user>& user) {
  std::vector<std::string> all{std::string(name), "for", std::to_string(::getpid())};
  if (user) {
    all.push_back(std::to_string(user->user));
    all.push_back(std::to_string(user->group));
  }
  return all;
}

}  // namespace

result<library_helper> start_library_helper(const helper_program& what, const std::string& path,
                                            std::span<const int> given, const std::optional<helper_user>& user) {
  const int first_free = helper_socket + 1 + static_cast<int>(given.size());
  auto socket = TRY(make_helper_socket(first_free, what.process));
  auto output = TRY(make_helper_output(first_free, what.process));
  spawn_plan plan;
  plan.default_signals();
  plan.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  plan.give(STDOUT_FILENO, output.theirs.get());
  plan.give(STDERR_FILENO, output.theirs.get());
  plan.give(helper_socket, socket.theirs.get());
  std::vector<unique_fd> copies;
  for (const int one : given) {
    const auto& copy = copies.emplace_back(moved_up(one, first_free));
    if (!copy) return fail(no_descriptors(what.process));
    plan.give(helper_socket + static_cast<int>(copies.size()), copy.get());
  }
  const auto candidates = program_candidates(what.name, path);
  std::string variable = kept_variable();
  char* environment[] = {variable.empty() ? nullptr : variable.data(), nullptr};
  pid_t id = 0;
  if (const int outcome = plan.run(id, candidates, arguments_for(what.name, user), environment); outcome != 0) {
    return fail(not_startable(what.program, candidates, outcome));
  }
  return library_helper{helper_child(id), std::move(socket.ours), std::move(output.ours)};
}

}  // namespace mpiacq::base

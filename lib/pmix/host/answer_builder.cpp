// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a server says, put together from the messages of the helper.
#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "host/pmix_session.hpp"
#include "separate/pmix_abi.hpp"

namespace mpiacq::pmix {

void answer_builder::problem(error_code code, std::string sentence) {
  if (answer_.problems.size() < limits_.most_problems) answer_.problems.emplace_back(code, std::move(sentence));
}

bool answer_builder::take(helper_message&& what) {
  if (auto* world = std::get_if<world_begins>(&what)) {
    end_world();
    if (answer_.worlds.size() >= most_namespaces || world->nspace.size() > abi::longest_namespace) return false;
    answer_.worlds.push_back({std::move(world->nspace), std::move(world->spawned_by), {}});
    claimed_ = world->claimed;
    is_in_world_ = true;
    return true;
  }
  if (auto* part = std::get_if<world_rows>(&what)) {
    ranks_ += part->rows.size();
    if (!is_in_world_ || part->rows.size() > rows_in_message || ranks_ > limits_.most_ranks) return false;
    auto& all = answer_.worlds.back().ranks;
    std::move(part->rows.begin(), part->rows.end(), std::back_inserter(all));
    return true;
  }
  if (auto* one = std::get_if<problem_told>(&what)) {
    if (answer_.problems.size() < limits_.most_problems) answer_.problems.push_back(std::move(one->what));
    return true;
  }
  return false;
}

/// Ranks in order, each once and with a number that a rank can have.
void answer_builder::end_world() {
  if (!std::exchange(is_in_world_, false)) return;
  pmix_world& world = answer_.worlds.back();
  const std::size_t came = world.ranks.size();
  if (came != claimed_) {
    problem(error_code::bad_format, fmt::format("the PMIx server says that {} has {} processes, and lists {} of them",
                                                world.nspace, claimed_, came));
  }
  std::erase_if(world.ranks, [](const process_row& one) { return one.rank > INT32_MAX; });
  const std::size_t numbered = world.ranks.size();
  std::stable_sort(world.ranks.begin(), world.ranks.end(),
                   [](const process_row& a, const process_row& b) { return a.rank < b.rank; });
  const auto twice = std::unique(world.ranks.begin(), world.ranks.end(),
                                 [](const process_row& a, const process_row& b) { return a.rank == b.rank; });
  world.ranks.erase(twice, world.ranks.end());
  if (numbered != came) {
    problem(error_code::bad_format, fmt::format("the PMIx server lists {} processes of {} whose number is no rank",
                                                came - numbered, world.nspace));
  }
  if (world.ranks.size() != numbered) {
    problem(error_code::bad_format,
            fmt::format("the PMIx server lists {} processes of {} with the number of another one: the first of each "
                        "number counts",
                        numbered - world.ranks.size(), world.nspace));
  }
}

pmix_answer answer_builder::finish() && {
  end_world();
  std::erase_if(answer_.worlds, [](const pmix_world& one) { return one.ranks.empty(); });
  return std::move(answer_);
}

}  // namespace mpiacq::pmix

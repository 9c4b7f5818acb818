// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "environment_world.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "mpiacq/job/process_table.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq {

namespace {

constexpr std::size_t pids_shown = 8;
constexpr std::size_t most_of_rank_list = 200;  // bytes

void sort_by_rank(std::vector<rank_claim>& claims) {
  // Claims without a number come last.
  const auto place = [](const rank_claim& one) {
    return std::tuple(one.rank ? std::int64_t{*one.rank} : INT64_MAX, one.process->start_time, one.process->pid);
  };
  std::sort(claims.begin(), claims.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
}

std::string pids_text(std::span<const rank_claim> claims) {
  std::string text;
  for (const rank_claim& one : claims.first(std::min(claims.size(), pids_shown))) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", one.process->pid.value());
  }
  if (claims.size() > pids_shown) text += fmt::format(" and {} more", claims.size() - pids_shown);
  return text;
}

/// The size that most claims state. Claims of one world may also have it from the MPI's own variables.
std::optional<std::uint64_t> stated_size(const rank_claim& claim) {
  std::optional<std::int64_t> size = claim.statement->stated.world_size;
  for (const launcher_statement& other : claim.process->statements) {
    const bool agrees = other.stated.rank && other.stated.rank == claim.statement->stated.rank;
    if (!size && agrees) size = other.stated.world_size;
  }
  if (!size || *size <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(*size);
}

std::optional<std::uint64_t> agreed_size(std::span<const rank_claim> claims, std::vector<error>& problems) {
  std::map<std::uint64_t, std::size_t> votes;
  for (const rank_claim& one : claims) {
    const auto size = stated_size(one);
    if (!size) continue;
    if (*size > table_limits{}.max_entries) {
      add_problem(problems, error_code::limit,
                  fmt::format("process {} states a job of {} ranks, which is more than mpiacq takes ({})",
                              one.process->pid.value(), *size, table_limits{}.max_entries));
      continue;
    }
    ++votes[*size];
  }
  if (votes.empty()) return std::nullopt;
  const auto most =
      std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (votes.size() > 1) {
    const auto other = votes.begin() == most ? std::next(votes.begin()) : votes.begin();
    add_problem(problems, error_code::bad_format,
                fmt::format("the ranks contradict each other on their number: {} of them say {}, others say {}",
                            most->second, most->first, other->first));
  }
  return most->first;
}

std::optional<std::uint64_t> agreed_local_size(std::span<const rank_claim> claims) {
  std::map<process_id, std::uint64_t> by_launcher;
  for (const rank_claim& one : claims) {
    const auto size = one.statement->local_size;
    if (!size || *size <= 0 || static_cast<std::uint64_t>(*size) > table_limits{}.max_entries) return std::nullopt;
    by_launcher[one.daemon.value_or(one.starter.value_or(one.process->parent))] = static_cast<std::uint64_t>(*size);
  }
  std::uint64_t sum = 0;
  for (const auto& [launcher, size] : by_launcher) sum += size;
  return sum == 0 ? std::nullopt : std::optional{sum};
}

void note_no_ranks(std::span<const rank_claim> claims, std::vector<error>& problems) {
  for (const rank_claim& one : claims) {
    add_problem(problems, error_code::bad_format,
                fmt::format("process {} has {}={}, which is no number of a rank: it is left out",
                            one.process->pid.value(), one.statement->stated.name, one.statement->stated.value));
  }
}

/// The oldest of some claims with the same number.
environment_rank rank_from(std::span<const rank_claim> same, std::vector<error>& problems) {
  const rank_claim& first = same.front();
  if (same.size() > 1) {
    add_problem(problems, error_code::bad_format,
                fmt::format("{} processes say that they are rank {} (pids {}): the oldest, {}, is taken for it",
                            same.size(), *first.rank, pids_text(same), first.process->pid.value()));
  }
  return {*first.rank, first.process->pid, first.process->start_time, first.process->executable};
}

std::string ranks_are(const rank_set& ranks) {
  std::string text = ranks.text();
  if (text.size() > most_of_rank_list) {
    text.resize(text.rfind(',', most_of_rank_list) + 1);
    text += "...";
  }
  return fmt::format("{} {} {}", ranks.count() == 1 ? "rank" : "ranks", text, ranks.count() == 1 ? "is" : "are");
}

void note_absent(const environment_world& world, std::vector<error>& problems) {
  if (!world.size) {
    add_problem(problems, error_code::not_found,
                "no variable says how many ranks the job has: ranks on other nodes are not known");
    return;
  }
  rank_set too_high;
  std::string gaps;  // as ranges: the size is a number that anybody can state
  std::uint64_t next = 0;
  const auto add_gap = [&](std::uint64_t end) {
    if (next < end) gaps += fmt::format("{}{}-{}", gaps.empty() ? "" : ",", next, end - 1);
  };
  for (const environment_rank& one : world.ranks) {
    const auto number = static_cast<std::uint64_t>(one.rank);
    if (number >= *world.size) too_high.add(static_cast<std::uint32_t>(number));
    add_gap(std::min(number, *world.size));
    next = number + 1;
  }
  add_gap(*world.size);
  if (!too_high.empty()) {
    add_problem(problems, error_code::bad_format,
                fmt::format("{} beyond the {} ranks that the variables state", ranks_are(too_high), *world.size));
  }
  const auto absent = gaps.empty() ? rank_set() : rank_set::parse(gaps).value_or(rank_set());
  if (absent.empty()) return;
  add_problem(problems, error_code::not_found,
              fmt::format("{} not among the processes of this node (the job has {} ranks): on other nodes, or ended",
                          ranks_are(absent), *world.size));
}

bool have_two_starters(std::span<const rank_claim> claims) {
  std::optional<process_id> known;
  return std::any_of(claims.begin(), claims.end(), [&](const rank_claim& one) {
    if (!known) known = one.starter;
    return one.starter && one.starter != known;
  });
}

}  // namespace

void add_problem(std::vector<error>& problems, error_code code, std::string sentence) {
  if (problems.size() < most_environment_problems) {
    problems.emplace_back(code, std::move(sentence));
  } else if (problems.size() == most_environment_problems) {
    problems.emplace_back(error_code::limit, "there are more problems of this kind, which are not listed");
  }
}

environment_world world_of(std::vector<rank_claim> claims, std::vector<error>& problems) {
  sort_by_rank(claims);
  const auto numbered = static_cast<std::size_t>(
      std::find_if(claims.begin(), claims.end(), [](const rank_claim& one) { return !one.rank; }) - claims.begin());
  const std::span<const rank_claim> all(claims), ranks = all.first(numbered);
  environment_world world;
  for (const std::string& value : claims.front().statement->job) {
    if (!value.empty()) world.id += (world.id.empty() ? "" : ".") + value;
  }
  world.size = agreed_size(ranks, problems);
  world.local_size = agreed_local_size(ranks);
  world.is_spawned = claims.front().process->is_spawned;
  if (claims.front().is_known_elsewhere) world.key = claims.front().key;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t end = first + 1;
    while (end < ranks.size() && ranks[end].rank == ranks[first].rank) ++end;
    world.ranks.push_back(rank_from(ranks.subspan(first, end - first), problems));
    first = end;
  }
  note_no_ranks(all.subspan(numbered), problems);
  if (!world.ranks.empty()) note_absent(world, problems);
  return world;
}

std::vector<std::vector<rank_claim>> split_by_starters(std::vector<rank_claim> claims) {
  sort_by_rank(claims);
  // Of a job that is starting or ending, some numbers are missing: equal ones alone do not tell two jobs apart.
  bool is_one = claims.front().statement->launcher->starts_on_each_node || !have_two_starters(claims);
  for (std::size_t i = 1; i < claims.size() && is_one; ++i) {
    const auto before = claims[i - 1].launched_by(), now = claims[i].launched_by();
    is_one = !claims[i].rank || claims[i].rank != claims[i - 1].rank || !before || !now || before == now;
  }
  std::vector<std::vector<rank_claim>> groups;
  if (is_one) {
    groups.push_back(std::move(claims));
    return groups;
  }
  std::map<process_id, std::vector<rank_claim>> by_starter;
  std::vector<rank_claim> orphans;
  for (rank_claim& one : claims) {
    auto& group = one.launched_by() ? by_starter[*one.launched_by()] : orphans;
    group.push_back(std::move(one));
  }
  for (auto& [starter, group] : by_starter) groups.push_back(std::move(group));
  groups.front().insert(groups.front().end(), orphans.begin(), orphans.end());
  return groups;
}

}  // namespace mpiacq

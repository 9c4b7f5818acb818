// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Which job a process belongs to.
#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "environment_jobs.hpp"

namespace mpiacq {

namespace {

/// The process, its parent, the parent of that one, and so on.
std::vector<process_id> line_of(node_processes& node, process_id pid) {
  std::vector<process_id> line = {pid};
  while (line.size() <= node_processes::most_generations) {
    const auto parent = node.parent_of(line.back());
    if (!parent) break;
    line.push_back(*parent);
  }
  return line;
}

/// "2", or "1:2" in a job of several worlds.
std::string name_in(const environment_job& job, std::size_t world, std::int32_t rank) {
  return job.worlds.size() == 1 ? std::to_string(rank) : fmt::format("{}:{}", world, rank);
}

struct rank_place {
  const environment_job* job = nullptr;
  std::string name;
};

std::unordered_map<process_id, rank_place> all_ranks(const std::vector<environment_job>& jobs) {
  std::unordered_map<process_id, rank_place> all;
  for (const environment_job& job : jobs) {
    for (std::size_t world = 0; world < job.worlds.size(); ++world) {
      for (const environment_rank& one : job.worlds[world].ranks) {
        all.emplace(one.pid, rank_place{&job, name_in(job, world, one.rank)});
      }
    }
  }
  return all;
}

std::vector<const environment_job*> jobs_below(node_processes& node,
                                               const std::unordered_map<process_id, rank_place>& ranks,
                                               process_id named) {
  std::vector<const environment_job*> below;
  for (const auto& [pid, place] : ranks) {
    const auto line = line_of(node, pid);
    if (std::find(line.begin() + 1, line.end(), named) == line.end()) continue;
    if (std::find(below.begin(), below.end(), place.job) == below.end()) below.push_back(place.job);
  }
  return below;
}

error several_jobs(process_id named, std::vector<const environment_job*> jobs) {
  std::sort(jobs.begin(), jobs.end(),
            [](const auto* a, const auto* b) { return a->first_rank().pid < b->first_rank().pid; });
  constexpr std::size_t most_shown = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(jobs.size(), most_shown); ++i) {
    const environment_job& job = *jobs[i];
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ",
                        job.starter ? job.starter->pid().value() : job.first_rank().pid.value(), job.launcher->name);
  }
  if (jobs.size() > most_shown) list += ", ...";
  return {error_code::invalid_argument,
          fmt::format("{} jobs descend from process {}: name the starter or a rank of one of them: {}", jobs.size(),
                      named.value(), list)};
}

}  // namespace

result<std::optional<environment_match>> environment_jobs::job_of(process_id named) {
  const auto ranks = all_ranks(jobs_);
  if (const auto rank = ranks.find(named); rank != ranks.end()) {
    return environment_match{rank->second.job, fmt::format("is rank {} of", rank->second.name)};
  }
  const auto is_started = [&](const environment_job& job) { return job.starter && job.starter->pid() == named; };
  const auto started = std::count_if(jobs_.begin(), jobs_.end(), is_started);
  if (started == 1) return environment_match{&*std::find_if(jobs_.begin(), jobs_.end(), is_started), {}};
  const auto below = jobs_below(node_, ranks, named);
  if (below.size() > 1) return fail(several_jobs(named, below));
  if (below.size() == 1) return environment_match{below.front(), "is an ancestor of the ranks of"};
  for (const process_id ancestor : line_of(node_, named)) {
    const auto rank = ranks.find(ancestor);
    if (rank == ranks.end()) continue;
    return environment_match{rank->second.job, fmt::format("is a descendant of rank {} of", rank->second.name)};
  }
  return std::nullopt;
}

bool environment_jobs::descends(process_id process, process_id ancestor) {
  const auto line = line_of(node_, process);
  return std::find(line.begin(), line.end(), ancestor) != line.end();
}

bool environment_jobs::is_inside(process_id process, const environment_job& job) {
  const auto line = line_of(node_, process);
  return std::any_of(job.worlds.begin(), job.worlds.end(), [&](const environment_world& world) {
    return std::any_of(world.ranks.begin(), world.ranks.end(), [&](const environment_rank& one) {
      return std::find(line.begin(), line.end(), one.pid) != line.end();
    });
  });
}

}  // namespace mpiacq

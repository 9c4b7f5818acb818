// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "environment_jobs.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "environment_starter.hpp"
#include "rank_claims.hpp"

namespace mpiacq {

namespace {

/// A job of one world; empty if no process of it states a number.
std::optional<environment_job> job_from(node_processes& node, std::vector<rank_claim> claims) {
  environment_job job;
  job.launcher = claims.front().statement->launcher;
  job.user = claims.front().process->user;
  if (claims.front().statement->names_job()) job.id = claims.front().statement->job;
  job.starter = starter_of(node, claims);
  job.worlds.push_back(world_of(std::move(claims), job.problems));
  if (job.worlds.front().ranks.empty()) return std::nullopt;
  return job;
}

bool is_spawned(const environment_job& job) {
  return job.worlds.front().is_spawned;
}

/// A world that MPI_Comm_spawn made belongs to the job whose starter started it.
void join_spawned_worlds(std::vector<environment_job>& jobs) {
  for (environment_job& spawned : jobs) {
    if (!is_spawned(spawned) || !spawned.starter) continue;
    const auto parent = std::find_if(jobs.begin(), jobs.end(), [&](const environment_job& one) {
      return !one.worlds.empty() && !is_spawned(one) && one.starter && one.starter->pid() == spawned.starter->pid() &&
             one.launcher == spawned.launcher && one.user == spawned.user;
    });
    if (parent == jobs.end()) continue;
    std::move(spawned.worlds.begin(), spawned.worlds.end(), std::back_inserter(parent->worlds));
    for (error& problem : spawned.problems) add_problem(parent->problems, problem.code, std::move(problem.message));
    spawned.worlds.clear();
  }
  std::erase_if(jobs, [](const environment_job& one) { return one.worlds.empty(); });
}

}  // namespace

std::size_t environment_job::ranks_here() const {
  std::size_t count = 0;
  for (const environment_world& world : worlds) count += world.ranks.size();
  return count;
}

std::optional<std::uint64_t> environment_job::size() const {
  std::uint64_t sum = 0;
  for (const environment_world& world : worlds) {
    if (!world.size) return std::nullopt;
    sum += *world.size;
  }
  return sum;
}

environment_jobs::environment_jobs(const std::string& proc, node_pass pass) : node_(proc, pass) {
  std::map<std::string, std::vector<rank_claim>> by_key;
  for (rank_claim& one : rank_claims_in(node_)) by_key[one.key].push_back(std::move(one));
  for (auto& [key, claims] : by_key) {
    for (auto& group : split_by_starters(std::move(claims))) {
      if (auto job = job_from(node_, std::move(group))) jobs_.push_back(std::move(*job));
    }
  }
  const auto by_first_rank = [](const environment_job& a, const environment_job& b) {
    return a.first_rank().pid < b.first_rank().pid;
  };
  std::sort(jobs_.begin(), jobs_.end(), by_first_rank);
  join_spawned_worlds(jobs_);
}

}  // namespace mpiacq

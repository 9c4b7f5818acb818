// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The environments of several processes, as their user may write them: what launchers state in them, and the worlds
// that are made of that. A byte 0xFF ends a process. The byte after it chooses the starter, the start time and the
// user's other processes.
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "environment_world.hpp"
#include "launcher_variables.hpp"

using namespace mpiacq;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void check_statement(const launcher_statement& one) {
  check(one.launcher != nullptr && one.stated.name == one.launcher->rank);
  check(!one.stated.rank || *one.stated.rank >= 0);
  check(!one.stated.world_size || *one.stated.world_size >= 0);
  for (const std::string& value : one.job) check(value.size() <= launcher_statement::most_of_job_value);
  check(one.is_same(one) && (!one.names_job_completely() || one.job.empty() || one.names_job()));
}

void check_world(const std::vector<rank_claim>& claims) {
  std::multiset<process_id> members;
  for (const rank_claim& one : claims) members.insert(one.process->pid);
  std::vector<error> problems;
  const environment_world world = world_of(claims, problems);
  check(problems.size() <= most_environment_problems + 1);
  for (const error& one : problems) check(!one.message.empty() && one.message.size() < 4096);
  std::int64_t before = -1;
  for (const environment_rank& one : world.ranks) {
    check(one.rank > before && members.contains(one.pid));
    before = one.rank;
  }
  check(!world.size || *world.size > 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::deque<stating_process> processes;
  std::map<std::string, std::vector<rank_claim>> claims;
  while (!text.empty() && processes.size() < 64) {
    const std::size_t end = std::min(text.find('\xff'), text.size());
    launcher_statements stated = decode_launcher_statements(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto choice = static_cast<std::uint8_t>(text.empty() ? 0 : text.front());
    text.remove_prefix(text.empty() ? 0 : 1);
    for (launcher_statement& one : stated.all) {
      check_statement(one);
      one.stated.value.resize(std::min<std::size_t>(one.stated.value.size(), 64));
    }
    if (stated.all.empty()) continue;
    const auto pid = static_cast<std::int64_t>(processes.size()) + 100;
    processes.push_back(
        {process_id{pid}, process_id{1}, choice, user_id{1}, "", {}, std::move(stated.all), stated.is_spawned});
    const stating_process& process = processes.back();
    for (const launcher_statement& one : process.statements) {
      rank_claim claim{&process, &one, {}, {}, {}, std::string(one.launcher->name)};
      if (one.stated.rank && *one.stated.rank < INT32_MAX) claim.rank = static_cast<std::int32_t>(*one.stated.rank);
      if ((choice & 3U) == 1) claim.starter = process_id{choice};
      if ((choice & 3U) == 2) claim.daemon = process_id{choice};
      claims[claim.key].push_back(claim);
    }
  }
  for (auto& [key, all] : claims) {
    std::size_t count = 0;
    const std::size_t before = all.size();
    for (const auto& group : split_by_starters(std::move(all))) {
      check(!group.empty());
      count += group.size();
      check_world(group);
    }
    check(count == before);
  }
  return 0;
}

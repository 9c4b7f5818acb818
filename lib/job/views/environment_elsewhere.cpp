// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "views/environment_elsewhere.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "launcher_hosts.hpp"
#include "mpiacq/base/remedies.hpp"
#include "mpiacq/ranks/rank_set.hpp"
#include "proc/local_host.hpp"

namespace mpiacq {

namespace {

constexpr std::int64_t largest_pid = std::int64_t{1} << 22;  // of Linux
constexpr std::size_t hosts_shown = 8;
constexpr std::size_t most_of_rank_list = 200;  // bytes

std::string text_of(std::vector<std::string> hosts) {
  const bool is_long = hosts.size() > hosts_shown;
  hosts.resize(std::min(hosts.size(), hosts_shown));
  return fmt::format("{}{}", fmt::join(hosts, ", "), is_long ? ", ..." : "");
}

/// The other hosts of the job, each once.
std::vector<std::string> other_hosts(std::vector<std::string> hosts, bool everywhere) {
  const local_host here = local_host::of_this_system();
  std::vector<std::string> others;
  std::set<std::string> known;
  for (std::string& host : hosts) {
    const bool is_here = !everywhere && here.is_called(host);
    if (!is_here && known.insert(host).second) others.push_back(std::move(host));
  }
  return others;
}

bool is_possible(const environment_job& job, const elsewhere_rank& one) {
  if (one.world >= job.worlds.size() || one.rank >= table_limits{}.max_entries) return false;
  const auto& size = job.worlds[one.world].size;
  return (!size || one.rank < *size) && one.pid.value() > 0 && one.pid.value() <= largest_pid;
}

using rank_place = std::pair<std::uint32_t, std::uint32_t>;  // world and rank

/// What no node has, of the first world that lacks some.
std::optional<std::string> missing_ranks(const environment_job& job, const std::set<rank_place>& there) {
  for (std::uint32_t world = 0; world < job.worlds.size(); ++world) {
    const auto size = job.worlds[world].size;
    if (!size) continue;
    rank_set present;
    for (auto at = there.lower_bound({world, 0}); at != there.end() && at->first == world; ++at) {
      present.add(at->second);
    }
    // As a range: the size is a number that any process can state.
    const rank_set missing = rank_set::parse(fmt::format("0-{}", *size - 1)).value_or(rank_set()).without(present);
    if (missing.empty()) continue;
    std::string text = missing.text();
    if (text.size() > most_of_rank_list) text = text.substr(0, text.rfind(',', most_of_rank_list) + 1) + "...";
    return fmt::format("{} {}", missing.count() == 1 ? "rank" : "ranks", text);
  }
  return std::nullopt;
}

/// Whether the starter may be a PMIx server that tools can ask.
bool is_of_prrte(launcher_kind launcher) {
  return launcher == launcher_kind::open_mpi || launcher == launcher_kind::prrte;
}

std::set<rank_place> places_of(const std::vector<table_row>& rows) {
  std::set<rank_place> places;
  for (const table_row& row : rows) places.emplace(row.world, static_cast<std::uint32_t>(row.rank.value()));
  return places;
}

void take_rows(job_description& described, const environment_job& job, const completed_ranks& all) {
  std::vector<job_world> worlds;
  for (const environment_world& world : job.worlds) worlds.push_back({world.id, std::nullopt});
  if (worlds.size() == 1) worlds.clear();
  auto table = std::make_shared<process_table>(make_process_table(all.rows, std::move(worlds), {}));
  table->belongs_to(job.user);
  std::vector<bool> local(table->string_count(), false);
  const auto hosts = table->host_numbers();
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (all.is_here[i]) local[hosts[i]] = true;
  }
  described.processes = std::move(table);
  described.locality = entry_locality(*described.processes, local);
}

}  // namespace

bool has_ranks_elsewhere(const environment_job& job) {
  return std::any_of(job.worlds.begin(), job.worlds.end(), [](const environment_world& world) {
    // A rank that the launcher has started here, and that is missing, has ended.
    return !world.size || std::max<std::uint64_t>(world.ranks.size(), world.local_size.value_or(0)) < *world.size;
  });
}

completed_ranks rows_with(const environment_job& job, const std::string& host, const elsewhere_ranks& found,
                          std::vector<error>& problems) {
  struct place {
    table_row row;
    bool is_here;
  };
  std::map<rank_place, place> all;
  const auto row_of = [](std::string_view where, std::string_view executable, process_id pid, rank_place at) {
    std::optional<std::string_view> program;
    if (!executable.empty()) program = executable;
    return table_row{where, program, pid, at.first, rank_number{static_cast<std::int32_t>(at.second)}};
  };
  for (std::uint32_t world = 0; world < job.worlds.size(); ++world) {
    for (const environment_rank& one : job.worlds[world].ranks) {
      const rank_place at{world, static_cast<std::uint32_t>(one.rank)};
      all.emplace(at, place{row_of(host, one.executable, one.pid, at), true});
    }
  }
  for (const elsewhere_rank& one : found.ranks) {
    if (!is_possible(job, one)) {
      add_problem(
          problems, error_code::bad_format,
          fmt::format("{} has a process {} that says it is rank {}, which the job does not have: it is left out",
                      one.host, one.pid.value(), one.rank));
      continue;
    }
    const rank_place at{one.world, one.rank};
    // A host name without a place in the names of this host may still be this host.
    const auto [known, is_new] = all.try_emplace(at, place{row_of(one.host, one.executable, one.pid, at), false});
    const bool is_the_same = known->second.row.pid == one.pid && known->second.is_here;
    if (is_new || is_the_same) continue;
    add_problem(
        problems, error_code::bad_format,
        fmt::format("rank {} is process {} on {}, and process {} on {}: the first is taken for it", one.rank,
                    known->second.row.pid.value(), known->second.row.host.value_or(""), one.pid.value(), one.host));
  }
  completed_ranks made;
  for (const auto& [at, one] : all) {
    made.rows.push_back(one.row);
    made.is_here.push_back(one.is_here);
  }
  return made;
}

void complete_by_agents(job_description& described, environment_jobs& jobs, const environment_job& job,
                        const find_options& options, const std::vector<std::string>& seen_hosts) {
  if (!has_ranks_elsewhere(job)) return;
  const bool are_named = !options.hosts.empty();
  std::vector<error> problems;
  auto all_hosts = are_named ? options.hosts : launcher_hosts_of(jobs, job, problems);
  if (!are_named) all_hosts.insert(all_hosts.end(), seen_hosts.begin(), seen_hosts.end());
  described.problems.insert(described.problems.end(), problems.begin(), problems.end());
  if (all_hosts.empty()) {
    return add_problem(described.problems, error_code::not_found,
                       fmt::format("the other nodes of the job are not known here: {}", remedies::name_hosts));
  }
  const auto hosts = other_hosts(std::move(all_hosts), options.agents && options.agents->everywhere);
  if (hosts.empty()) return;
  std::vector<std::string> keys;
  for (const environment_world& world : job.worlds) keys.push_back(world.key);
  const bool has_key = std::any_of(keys.begin(), keys.end(), [](const std::string& key) { return !key.empty(); });
  if (!options.agents || options.agents->start == agent_start::none || !has_key) {
    add_problem(described.problems, error_code::not_found,
                has_key ? fmt::format("the ranks on {} were not looked for", text_of(hosts))
                        : "no variable names the job, so that its ranks on other nodes cannot be told from those of "
                          "other jobs");
    return;
  }
  agents_options how = *options.agents;
  // Hosts that this program's user names are the user's own choice.
  if (!how.user) how.user = are_named ? user_id{::geteuid()} : job.user;
  if (how.job_id.empty()) how.job_id = described.facts.job_id.value_or("");
  if (!how.pmix_server && job.starter && is_of_prrte(described.launcher)) how.pmix_server = job.starter->pid();
  const elsewhere_ranks found = ranks_by_agents(hosts, keys, how);
  // What is missing on this node alone is no problem any more.
  std::erase_if(described.problems, [](const error& one) { return one.code == error_code::not_found; });
  const std::string here = local_host::of_this_system().name();
  const completed_ranks all = rows_with(job, here, found, described.problems);
  for (const graph_host& host : found.hosts) {
    if (host.why) described.problems.push_back(*host.why);
  }
  if (const auto missing = missing_ranks(job, places_of(all.rows))) {
    add_problem(described.problems, error_code::not_found,
                fmt::format("{} of {} not among the processes of this node and of {}", *missing,
                            job.size() ? std::to_string(*job.size()) : "?", text_of(hosts)));
  }
  take_rows(described, job, all);
}

}  // namespace mpiacq

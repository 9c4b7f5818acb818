// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/pmix_launch.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq {

namespace {

constexpr std::chrono::milliseconds shortest_pause{20};
constexpr std::chrono::milliseconds longest_pause{500};
/// Ranks that the server has not started for this time, on whatever node, are reported as they are.
constexpr std::chrono::seconds patience_with_remote_ranks{10};
/// Ranks wait while the server is asked.
constexpr std::chrono::seconds patience_with_answer{5};
constexpr std::size_t most_hosts_not_held = 16;

bool lacks_some(const process_table& table) {
  for (const entry_index one : table.entries()) {
    if (table.pid(one).value() <= 0) return true;
  }
  return false;
}

}  // namespace

pmix_launch::pmix_launch(job_description seen, bool is_chosen)
    : seen_(std::move(seen)), is_chosen_(is_chosen), interval_(shortest_pause) {}

result<bool> pmix_launch::connect() {
  const process_id rank = seen_.processes->pid(entry_index{0});
  auto place = TRY(find_pmix_place(rank));
  if (!place) return false;
  const process_id server = place->server.process->pid();
  if (server != seen_.starter.pid) {
    return fail(error_code::not_found, fmt::format("the PMIx server {} of rank process {} is not the starter {}",
                                                   server.value(), rank.value(), seen_.starter.pid.value()));
  }
  if (auto why = is_chosen_ ? std::nullopt : pmix::known_harm_of(place->server)) return fail(std::move(*why));
  pmix::session_limits limits;
  limits.answer_time = patience_with_answer;
  watch_ = TRY(pmix_watch::start(std::move(*place), limits));
  return true;
}

result<std::optional<pmix_launch::outcome>> pmix_launch::without_table(error why) {
  if (is_chosen_) return fail(std::move(why));
  seen_.problems.insert(seen_.problems.begin(), std::move(why));
  return outcome{std::move(seen_), nullptr};
}

result<std::optional<pmix_launch::outcome>> pmix_launch::ask(deadline now) {
  if (give_up_ == no_deadline) give_up_ = now + patience_with_remote_ranks;
  const bool is_late = now >= give_up_;
  if (!watch_) {
    const auto connected = connect();
    if (!connected) return without_table(connected.error());
    if (!*connected)
      return is_chosen_ ? without_table(no_pmix_job(seen_.starter.pid)) : outcome{std::move(seen_), nullptr};
  } else if (auto newer = watch_->renew_first(); !newer) {
    return without_table(std::move(newer).error());
  }
  if (is_late || !lacks_some(*watch_->first().processes)) {
    const auto heard = watch_->hear_ends_if_needed();
    job_description job = watch_->first();
    if (!heard) job.problems.push_back(heard.error());
    for (error& one : ranks_not_held(job)) job.problems.push_back(std::move(one));
    return outcome{std::move(job), std::move(watch_)};
  }
  interval_ = std::min<clock::duration>(2 * interval_, longest_pause);
  return std::nullopt;
}

std::vector<error> ranks_not_held(const job_description& job) {
  std::map<std::string, rank_set> elsewhere;
  const process_table& table = *job.processes;
  for (const entry_index entry : table.entries()) {
    if (!job.is_local(entry))
      elsewhere[std::string(table.host_name(entry).value_or("a node without a name"))].add(entry);
  }
  std::vector<error> problems;
  std::size_t unnamed = 0;
  for (const auto& [host, ranks] : elsewhere) {
    if (problems.size() == most_hosts_not_held) {
      ++unnamed;
      continue;
    }
    problems.emplace_back(
        error_code::unsupported,
        fmt::format("the ranks on {} ({}) run already: launch by PMIx holds the ranks of this node alone", host,
                    table.names().text(ranks)));
  }
  if (unnamed != 0) problems.emplace_back(error_code::unsupported, fmt::format("and those on {} more nodes", unnamed));
  return problems;
}

}  // namespace mpiacq

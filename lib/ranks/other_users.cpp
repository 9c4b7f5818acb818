// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Finds processes that a starter lists as its ranks and that belong to other users. A hostile starter can list any
// process of its node, so that a tool that runs as root leaves all of these alone.
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "mpiacq/job/job_description.hpp"
#include "mpiacq/process/process_user.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq {

std::vector<error> other_users_ranks(const process_table& table, const entry_locality& locality) {
  const auto starters = table.user();
  if (!starters) return {};
  struct group {
    rank_set entries;
    error why;
  };
  std::map<std::string, group> by_users;
  // A table can name one process many times.
  std::unordered_map<process_id, group*> known;
  for (const entry_index entry : table.entries()) {
    if (!locality.is_local(entry)) continue;
    const process_id pid = table.pid(entry);
    const auto [at, is_new] = known.try_emplace(pid, nullptr);
    if (is_new) {
      const auto users = users_of(pid);
      auto why = users ? why_no_rank(pid, *users, *starters) : std::nullopt;
      if (why) at->second = &by_users.try_emplace(users->text(), group{{}, std::move(*why)}).first->second;
    }
    if (at->second != nullptr) at->second->entries.add(entry);
  }
  std::vector<error> all;
  for (auto& [users, found] : by_users) {
    const bool is_one = found.entries.count() == 1;
    all.emplace_back(found.why.code,
                     fmt::format("rank{} {}: {}{}; {} left alone", is_one ? "" : "s", table.names().text(found.entries),
                                 found.why.message, is_one ? "" : ", and neither do the others' processes",
                                 is_one ? "it is" : "they are"));
  }
  return all;
}

}  // namespace mpiacq

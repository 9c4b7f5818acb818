// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/text/standing_text.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace mpiacq::tool {

namespace {

constexpr std::size_t most_groups = 3;

std::string ranks_have(const rank_set& ranks, const rank_names& names) {
  const bool one = ranks.count() == 1;
  return fmt::format("{} {} {}", one ? "rank" : "ranks", names.text(ranks), one ? "has" : "have");
}

std::string busy_text(const rank_set& ranks, const busy_rank& one, const rank_names& names) {
  std::string where = one.function.empty() ? "the same place" : one.function;
  if (!one.function.empty() && where.find('(') == std::string::npos) where += "()";
  std::string doing = one.runs ? "computing" : "";
  if (!one.polls.empty()) doing = fmt::format("calling {} again and again", one.polls);
  return fmt::format("{} been {}{}in {} for {:.0f} s", ranks_have(ranks, names), doing, doing.empty() ? "" : " ", where,
                     std::chrono::duration<double>(one.since).count());
}

}  // namespace

std::string standing_text(const job_stands_still& job, const rank_names& names) {
  std::map<std::tuple<std::string, std::string, bool>, std::pair<rank_set, busy_rank>> groups;
  for (const busy_rank& one : job.busy) {
    auto& [ranks, shortest] = groups.try_emplace({one.polls, one.function, one.runs}, rank_set(), one).first->second;
    ranks.add(one.entry);
    shortest.since = std::min(shortest.since, one.since);
  }
  std::string text;
  std::size_t told = 0;
  for (const auto& [what, group] : groups) {
    if (told++ == most_groups) {
      text += fmt::format("; {} more groups of ranks are in no call that waits", groups.size() - most_groups);
      break;
    }
    text += "; " + busy_text(group.first, group.second, names);
  }
  if (!job.stopped.empty())
    text +=
        fmt::format("; a signal has stopped rank{} {}", job.stopped.count() == 1 ? "" : "s", names.text(job.stopped));
  return text;
}

}  // namespace mpiacq::tool

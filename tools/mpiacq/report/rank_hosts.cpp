// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/rank_hosts.hpp"

#include <map>

#include <fmt/format.h>

#include "report/call_chains.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

/// The bound for the text report. JSON contains all hosts.
constexpr std::size_t hosts_shown = 16;

}  // namespace

rank_hosts::rank_hosts(const process_table& table, const rank_selection& ranks) {
  const auto numbers = table.host_numbers();
  host_of_.assign(table.size(), none);
  std::map<std::uint32_t, std::size_t> places;
  for (const entry_index entry : table.names().selected(ranks, table.size())) {
    const auto [at, is_new] = places.try_emplace(numbers[entry.value()], hosts_.size());
    if (is_new) hosts_.push_back({std::string(table.host_name(entry).value_or("")), {}});
    hosts_[at->second].ranks.add(entry);
    host_of_[entry.value()] = static_cast<std::uint32_t>(at->second);
  }
}

const rank_hosts::host* rank_hosts::find(entry_index entry) const {
  const std::size_t place = entry.value();
  return place < host_of_.size() && host_of_[place] != none ? &hosts_[host_of_[place]] : nullptr;
}

std::string_view rank_hosts::of(entry_index entry) const {
  const host* found = find(entry);
  return found == nullptr ? std::string_view() : found->name;
}

std::string rank_hosts::behind(const rank_set& ranks) const {
  if (hosts_.size() < 2 || ranks.empty()) return {};
  const host* found = find(entry_index{ranks.lowest()});
  if (found == nullptr || found->name.empty() || !ranks.without(found->ranks).empty()) return {};
  return " on " + printable(found->name);
}

std::string rank_hosts::count_text() const {
  return hosts_.size() < 2 ? std::string() : fmt::format(" on {} nodes", hosts_.size());
}

std::string rank_hosts::line(const rank_names& names) const {
  if (hosts_.size() < 2) return {};
  std::string text = "  nodes:";
  for (std::size_t i = 0; i < hosts_.size() && i < hosts_shown; ++i) {
    const std::string name = hosts_[i].name.empty() ? "(unknown)" : printable(hosts_[i].name);
    text += fmt::format("{} {} {}", i == 0 ? "" : ",", name, ranks_text(hosts_[i].ranks, names));
  }
  if (hosts_.size() > hosts_shown) text += fmt::format(", and {} more: see --json", hosts_.size() - hosts_shown);
  return text + "\n";
}

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "container_table.hpp"

#include <string>
#include <utility>
#include <vector>

#include "mpiacq/base/host_names.hpp"
#include "proc/local_host.hpp"
#include "proc/pid_namespace.hpp"

namespace mpiacq {

namespace {

/// For each string of the table: whether it is the name of this host.
std::vector<bool> hosts_called(const process_table& table, const local_host& here) {
  std::vector<bool> called(table.string_count(), false);
  std::vector<bool> is_seen(table.string_count(), false);
  for (const std::uint32_t host : table.host_numbers()) {
    if (host == process_table::no_string || is_seen[host]) continue;
    is_seen[host] = true;
    called[host] = is_host_name(table.string(host)) && here.is_called(table.string(host));
  }
  return called;
}

std::vector<std::string> names_only_inside(const process_table& table, const std::vector<bool>& inside) {
  const auto outside = hosts_called(table, local_host::of_this_system());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] && !outside[i]) names.emplace_back(table.string(static_cast<std::uint32_t>(i)));
  }
  return names;
}

}  // namespace

std::shared_ptr<const process_table> seen_from_here(std::shared_ptr<const process_table> published,
                                                    const process_facts& starter) {
  const auto space = inner_namespace_of(starter);
  const auto here = local_host::inside(starter);
  if (!published || (!space && !here)) return published;
  const auto local = hosts_called(*published, here ? *here : local_host::of_this_system());
  std::vector<process_id> pids;
  pids.reserve(published->size());
  const auto translation = space ? std::optional<pid_translation>(*space) : std::nullopt;
  for (const entry_index entry : published->entries()) {
    const process_id there = published->published_pid(entry);
    const std::uint32_t host = published->host_numbers()[entry.value()];
    const bool is_local = host < local.size() && local[host];
    pids.push_back(translation && is_local ? translation->here(there).value_or(process_id{}) : there);
  }
  process_table seen = published->with_pids(std::move(pids));
  if (here) seen.calls_this_node(names_only_inside(*published, local));
  return std::make_shared<const process_table>(std::move(seen));
}

}  // namespace mpiacq

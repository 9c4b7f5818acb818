// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/text/table_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "commands/advice.hpp"
#include "mpiacq/ranks/rank_set.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

/// The number of rows that a person reads. A larger job is shown host by host; JSON has every process.
constexpr std::size_t rows_shown_one_by_one = 64;
constexpr std::size_t problems_of_table_shown = 10;

std::string text_or_unknown(std::optional<std::string_view> text) {
  return text ? printable(*text) : "?";
}

/// The pid; for a job in a container, also the pid inside it.
std::string pid_text(const process_table& table, entry_index entry) {
  const std::int64_t here = table.pid(entry).value();
  const std::int64_t inside = table.published_pid(entry).value();
  if (here == inside) return std::to_string(here);
  return fmt::format("{} ({} in its container)", here == 0 ? "-" : std::to_string(here), inside);
}

std::string process_rows(const process_table& table, const std::vector<rank_state>& states) {
  std::vector<std::vector<std::string>> rows = {{"RANK", "HOST", "PID", "STATE", "EXECUTABLE"}};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const entry_index entry{i};
    rows.push_back({table.names().of(entry), text_or_unknown(table.host_name(entry)), pid_text(table, entry),
                    std::string(name(states[i])), text_or_unknown(table.executable_name(entry))});
  }
  return columns(rows);
}

std::string parent_text(std::span<const job_world> worlds, const job_world::origin& origin) {
  const auto parent =
      std::find_if(worlds.begin(), worlds.end(), [&](const job_world& w) { return w.id == origin.world; });
  if (parent != worlds.end()) return fmt::format("world {}", parent - worlds.begin());
  return origin.world.empty() ? "an unknown world" : "world " + printable(origin.world);
}

std::string run_text(const process_table& table, std::size_t first, std::size_t last) {
  rank_set run;
  for (std::size_t i = first; i <= last; ++i) run.add(entry_index{i});
  return table.names().text(run);
}

/// One row for each run of ranks with the same host and executable.
std::string run_rows(const process_table& table) {
  std::vector<std::vector<std::string>> rows = {{"RANKS", "HOST", "EXECUTABLE"}};
  const auto hosts = table.host_numbers();
  const auto executables = table.executable_numbers();
  std::size_t first = 0;
  for (std::size_t i = 1; i <= table.size(); ++i) {
    const bool goes_on = i < table.size() && hosts[i] == hosts[first] && executables[i] == executables[first] &&
                         table.names().world(entry_index{i}) == table.names().world(entry_index{first});
    if (goes_on) continue;
    if (rows.size() > rows_shown_one_by_one) {
      rows.push_back({run_text(table, first, table.size() - 1), "...", "the rest: see --json"});
      break;
    }
    rows.push_back({run_text(table, first, i - 1), text_or_unknown(table.host_name(entry_index{first})),
                    text_or_unknown(table.executable_name(entry_index{first}))});
    first = i;
  }
  return columns(rows);
}

}  // namespace

std::string world_lines(std::span<const job_world> worlds) {
  std::string text;
  for (std::size_t i = 0; i < worlds.size(); ++i) {
    const job_world& world = worlds[i];
    text += fmt::format("  world {}: {}", i, printable(world.id));
    if (world.spawned_by) {
      text += fmt::format(", spawn {} of rank {} of {}", world.spawned_by->sequence, world.spawned_by->rank.value(),
                          parent_text(worlds, *world.spawned_by));
    }
    text += "\n";
  }
  return text;
}

std::string extent_text(const process_table& table, const mpir::job_facts& facts) {
  std::vector<std::uint32_t> hosts(table.host_numbers().begin(), table.host_numbers().end());
  std::sort(hosts.begin(), hosts.end());
  const auto host_count = static_cast<std::size_t>(std::unique(hosts.begin(), hosts.end()) - hosts.begin());
  std::string text =
      fmt::format("{} on {}", counted(table.size(), "process", "processes"), counted(host_count, "host", "hosts"));
  if (table.worlds().size() > 1) text += fmt::format(" in {} worlds", table.worlds().size());
  if (facts.job_id) text += fmt::format(", job {}", printable(*facts.job_id));
  if (facts.step_id) text += fmt::format(" step {}", printable(*facts.step_id));
  return text;
}

std::string table_text(const process_table& table, const std::vector<rank_state>& states) {
  std::string text = table.size() <= rows_shown_one_by_one ? process_rows(table, states) : run_rows(table);
  if (table.names().has_worlds()) text += world_lines(table.worlds());
  // A table that mpiacq has made has none.
  if (table.layout().size != 0) text += "  layout: " + layout_source_text(table.layout(), true) + "\n";
  return text;
}

std::string problem_text(std::span<const error> problems, const process_table* table) {
  std::string text;
  for (const error& problem : problems) text += "  problem: " + advised(problem.message) + "\n";
  if (table == nullptr) return text;
  const auto of_table = table->problems();
  for (std::size_t i = 0; i < std::min(of_table.size(), problems_of_table_shown); ++i) {
    text += "  problem: " + printable(of_table[i].sentence(table->names())) + "\n";
  }
  if (table->problem_count() > problems_of_table_shown) {
    text += fmt::format("  and {} more such problems: see --json\n", table->problem_count() - problems_of_table_shown);
  }
  return text;
}

std::string facts_text(const mpir::job_facts& facts, bool is_spawned) {
  std::string text;
  if (facts.starter_is_rank) text += "  the starter is rank 0 itself: it has no MPIR_i_am_starter\n";
  if (facts.acquired_pre_main && is_spawned) text += "  the ranks have not entered main yet (MPIR_acquired_pre_main)\n";
  if (facts.force_to_main) text += "  a tool should show the source code of main first (MPIR_force_to_main)\n";
  if (facts.partial_attach_ok) text += "  the starter releases all ranks (MPIR_partial_attach_ok)\n";
  if (facts.ignore_queues) text += "  the ranks have no message queues to show (MPIR_ignore_queues)\n";
  if (facts.can_launch_daemons) text += "  the starter can launch a tool's daemons (MPIR_executable_path)\n";
  return text;
}

std::string facts_text(const process_table& table, std::span<const rank_facts> facts, bool is_spawned) {
  rank_set before_main, to_main;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (facts[i].acquired_pre_main && is_spawned) before_main.add(entry_index{i});
    if (facts[i].force_to_main) to_main.add(entry_index{i});
  }
  std::string text;
  if (!before_main.empty()) text += "  not yet in main: ranks " + table.names().text(before_main) + "\n";
  if (!to_main.empty()) text += "  a tool should show main first: ranks " + table.names().text(to_main) + "\n";
  return text;
}

}  // namespace mpiacq::tool

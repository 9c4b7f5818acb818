// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "job_report.hpp"
#include "text_parts.hpp"

namespace mpiacq::tool {

namespace {

/// As many rows as a person looks at. A larger job is shown host by host; JSON has every process.
constexpr std::size_t rows_shown_one_by_one = 64;
constexpr std::size_t problems_shown = 10;

std::string text_or_unknown(std::optional<std::string_view> text) {
  return text ? printable(*text) : "?";
}

std::string process_rows(const process_table& table, const std::vector<rank_state>& states) {
  std::vector<std::vector<std::string>> rows = {{"RANK", "HOST", "PID", "STATE", "EXECUTABLE"}};
  for (std::size_t i = 0; i < table.size(); ++i) {
    rows.push_back({std::to_string(i), text_or_unknown(table.host_name(i)), std::to_string(table.pid(i).value()),
                    std::string(name(states[i])), text_or_unknown(table.executable_name(i))});
  }
  return columns(rows);
}

/// One row for each run of ranks with the same host and executable.
std::string run_rows(const process_table& table) {
  std::vector<std::vector<std::string>> rows = {{"RANKS", "HOST", "EXECUTABLE"}};
  const auto hosts = table.host_numbers();
  const auto executables = table.executable_numbers();
  std::size_t first = 0;
  for (std::size_t i = 1; i <= table.size(); ++i) {
    if (i < table.size() && hosts[i] == hosts[first] && executables[i] == executables[first]) continue;
    if (rows.size() > rows_shown_one_by_one) {
      rows.push_back({fmt::format("{}-{}", first, table.size() - 1), "...", "the rest: see --json"});
      break;
    }
    rows.push_back({i - first == 1 ? std::to_string(first) : fmt::format("{}-{}", first, i - 1),
                    text_or_unknown(table.host_name(first)), text_or_unknown(table.executable_name(first))});
    first = i;
  }
  return columns(rows);
}

std::string headline(const job_snapshot& snapshot, const process_table* table) {
  const starter_facts& starter = snapshot.subject.starter();
  std::string text = fmt::format("mpiacq: {} (pid {})", printable(starter.executable), starter.pid.value());
  if (snapshot.what == job_snapshot::event::aborting) {
    text += " aborts the job: ";
    text += snapshot.abort_reason ? printable(*snapshot.abort_reason) : "it gives no reason";
    return text + "\n";
  }
  const bool attached = snapshot.what == job_snapshot::event::attached;
  std::vector<std::uint32_t> hosts(table->host_numbers().begin(), table->host_numbers().end());
  std::sort(hosts.begin(), hosts.end());
  const auto host_count = static_cast<std::size_t>(std::unique(hosts.begin(), hosts.end()) - hosts.begin());
  text += fmt::format(" {} {} on {}", attached ? "has" : "has spawned", counted(table->size(), "process", "processes"),
                      counted(host_count, "host", "hosts"));
  const mpir::job_facts& facts = snapshot.subject.facts();
  if (facts.job_id) text += fmt::format(", job {}", printable(*facts.job_id));
  if (facts.step_id) text += fmt::format(" step {}", printable(*facts.step_id));
  return text + "\n";
}

std::string problem_lines(const job_snapshot& snapshot, const process_table& table) {
  std::string text;
  for (const error& problem : snapshot.problems) text += "  problem: " + printable(problem.message) + "\n";
  const auto problems = table.problems();
  for (std::size_t i = 0; i < std::min(problems.size(), problems_shown); ++i) {
    text += "  problem: " + printable(problems[i].sentence()) + "\n";
  }
  if (table.problem_count() > problems_shown) {
    text += fmt::format("  and {} more such problems: see --json\n", table.problem_count() - problems_shown);
  }
  return text;
}

}  // namespace

std::string job_text(const job_snapshot& snapshot) {
  const auto table = snapshot.subject.processes();
  const std::string& how = snapshot.subject.starter().found_how;
  if (snapshot.what == job_snapshot::event::aborting || !table) return headline(snapshot, nullptr);
  std::string text = headline(snapshot, table.get());
  text +=
      table->size() <= rows_shown_one_by_one ? process_rows(*table, snapshot.subject.rank_states()) : run_rows(*table);
  if (!how.empty()) text += "  " + printable(how) + "\n";
  if (!table->empty()) text += "  layout: " + layout_source_text(table->layout(), true) + "\n";
  return text + problem_lines(snapshot, *table);
}

}  // namespace mpiacq::tool

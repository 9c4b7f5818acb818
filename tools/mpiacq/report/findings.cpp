// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/findings.hpp"

#include <csignal>

#include <fmt/format.h>

#include "report/call_chains.hpp"
#include "report/queues_parts.hpp"
#include "report/register_names.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

constexpr std::size_t command_shown = 400;  // characters

}  // namespace

std::string_view name(report_cause cause) {
  switch (cause) {
    case report_cause::asked:
      return "asked";
    case report_cause::hang:
      return "hang";
    case report_cause::timeout:
      return "timeout";
    case report_cause::crash:
      return "crash";
  }
  return "?";
}

std::vector<odd_row> odd_rows(const findings& found) {
  std::vector<odd_row> rows;
  if (found.why.basis == verdict_basis::crash) return rows;  // `end_rows` says more
  rank_set others = found.why.ranks;
  for (const rank_call& call : calls_by_site(found.queues.seen.ranks)) {
    const rank_set ranks = call.ranks.both(found.why.ranks);
    if (ranks.empty()) continue;
    others = others.without(ranks);
    rank_call those = call;
    those.ranks = ranks;
    rows.push_back({ranks, doing_text(those)});
  }
  if (!others.empty()) rows.push_back({others, doing_text({{}, mpi_call_kind::unknown, others})});
  return rows;
}

namespace {

std::string registers_text(const rank_end& end) {
  if (!end.registers) return {};
  std::string text;
  for (const named_register& one : named_registers(*end.registers)) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {:#x}", one.name, one.value.value());
  }
  return text;
}

}  // namespace

std::vector<shown_end> all_ends(const crash_findings& crash) {
  std::vector<shown_end> all;
  for (const rank_end& end : crash.failed) all.push_back({&end, false});
  for (const rank_end& end : crash.meanwhile) all.push_back({&end, end.status.signaled && end.status.value == SIGKILL});
  return all;
}

std::vector<end_row> end_rows(const findings& found) {
  std::vector<end_row> rows;
  if (!found.crash) return rows;
  for (const shown_end& one : all_ends(*found.crash)) {
    const rank_end& end = *one.end;
    const std::string host = printable(found.queues.hosts.of(end.entry));
    const char* const when = one.killed_while_held ? ", while it was held for this report" : "";
    rows.push_back({end.entry,
                    fmt::format("{} (process {}{})", ranks_words(rank_set(end.entry), found.queues.names),
                                end.pid.value(), host.empty() ? "" : " on " + host),
                    printable(end_text(end)) + when, registers_text(end)});
  }
  return rows;
}

std::vector<std::string> core_lines(const findings& found) {
  std::vector<std::string> lines;
  if (!found.crash) return lines;
  for (const rank_core& core : found.crash->cores.written) {
    std::string line = fmt::format("core file of {}: {}{}", ranks_words(rank_set(core.entry), found.queues.names),
                                   printable(core.path), core.host.empty() ? "" : " on " + printable(core.host));
    if (core.unread != 0) line += fmt::format(" ({} bytes could not be read)", core.unread);
    lines.push_back(std::move(line));
  }
  for (const refused_ranks& one : found.crash->cores.refused) {
    lines.push_back(
        fmt::format("no core file of {}: {}", ranks_words(one.ranks, found.queues.names), printable(one.why.message)));
  }
  return lines;
}

std::string command_line_of(const findings& found) {
  std::string line;
  for (const std::string& word : found.command) {
    if (!line.empty()) line += ' ';
    line += printable(word);
    if (line.size() > command_shown) return line.substr(0, command_shown) + "...";
  }
  return line;
}

}  // namespace mpiacq::tool

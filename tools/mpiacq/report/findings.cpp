// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/findings.hpp"

#include <fmt/format.h>

#include "report/queues_parts.hpp"
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
  }
  return "?";
}

std::vector<odd_row> odd_rows(const findings& found) {
  std::vector<odd_row> rows;
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

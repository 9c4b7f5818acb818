// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "report/call_chains.hpp"
#include "report/colours.hpp"
#include "report/findings.hpp"
#include "report/job_origin.hpp"
#include "report/text/table_text.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

std::string headline(const findings& found, bool colour) {
  const bool is_certain = found.why.basis == verdict_basis::deadlock || found.why.basis == verdict_basis::mismatch ||
                          found.why.basis == verdict_basis::stopped || found.why.basis == verdict_basis::crash;
  return fmt::format("mpiacq: {}\n",
                     coloured(colour, is_certain ? colours::red : colours::bold, printable(found.why.sentence)));
}

std::string origin_text(const findings& found) {
  std::string text = "  job: " + starter_text(found.job.starter, found.job.origin);
  if (found.job.processes) text += ", " + extent_text(*found.job.processes, found.job.facts);
  text += "\n";
  if (const std::string command = command_line_of(found); !command.empty()) text += "  command: " + command + "\n";
  return text + fmt::format("  looked at: {}, with the ranks stopped for {:.1f} ms\n", time_text(found.taken),
                            1000 * (found.stacks.held + found.queues.held).count());
}

void write_ends_text(report_stream& out, const findings& found) {
  out.write("\nhow ranks have failed\n");
  for (const end_row& row : end_rows(found)) {
    out.write(fmt::format("  {}: {}\n", row.who, row.how));
    if (!row.registers.empty()) out.write(fmt::format("    {}\n", row.registers));
  }
  for (const std::string& line : core_lines(found)) out.write("  " + line + "\n");
}

}  // namespace

void write_findings_text(report_stream& out, const findings& found, bool colour) {
  out.write(headline(found, colour));
  const auto rows = odd_rows(found);
  if (!rows.empty()) out.write("\nlook first at\n");
  for (const odd_row& row : rows) {
    out.write(fmt::format("  {}: {}\n", ranks_words(row.ranks, found.queues.names), row.why));
  }
  if (found.crash) write_ends_text(out, found);
  out.write("\nwho waits for whom\n");
  write_queues_body(out, found.queues, colour);
  out.write("\nwhere the ranks are\n");
  write_stacks_body(out, found.stacks, colour);
  if (found.history) {
    out.write("\nhow long the ranks have been where they are\n");
    out.write(history_text(*found.history, found.queues.names));
  }
  out.write("\nthis report\n");
  out.write(origin_text(found));
  out.write(source_line(found.job.origin));
  if (found.queues.names.has_worlds()) out.write(world_lines(found.queues.worlds));
}

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/call_chains.hpp"
#include "report/findings.hpp"
#include "report/html/html_text.hpp"
#include "report/html/page_data.hpp"
#include "report/html/page_files.hpp"
#include "report/job_origin.hpp"
#include "report/queues_parts.hpp"
#include "report/text/table_text.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

std::string_view title_of(verdict_basis basis) {
  switch (basis) {
    case verdict_basis::deadlock:
      return "Deadlock";
    case verdict_basis::possible_deadlock:
      return "Perhaps a deadlock";
    case verdict_basis::mismatch:
      return "Calls that do not match";
    case verdict_basis::stopped:
      return "Stopped by a signal";
    case verdict_basis::wait:
      return "Ranks wait";
    case verdict_basis::odd_ranks:
      return "Odd ranks";
    case verdict_basis::crash:
      return "A rank has failed";
    case verdict_basis::nothing:
      break;
  }
  return "No reason found";
}

/// Lines of a text report as they are; nothing for an empty text.
void write_lines(report_stream& out, std::string_view text) {
  if (!text.empty()) out.put(fmt::format("<pre>{}</pre>\n", html_text(text)));
}

void begin_section(report_stream& out, std::string_view id, std::string_view title) {
  out.put(fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-title\"><h2 id=\"{0}-title\">{1}</h2>\n", id, title));
}
void end_section(report_stream& out) {
  out.put("</section>\n");
}

void write_head(report_stream& out, const findings& found, std::string_view nonce) {
  out.put(
      fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'nonce-{0}'; "
                  "script-src 'nonce-{0}'; base-uri 'none'; form-action 'none'\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<title>mpiacq: {1}</title>\n<style nonce=\"{0}\">\n",
                  nonce, html_text(found.why.sentence)));
  out.put(page_style);
  out.put("</style>\n</head>\n<body>\n");
}

void write_verdict(report_stream& out, const findings& found) {
  out.put(fmt::format("<header>\n<p class=\"basis {}\">{}</p>\n<h1>{}</h1>\n", name(found.why.basis),
                      title_of(found.why.basis), html_text(found.why.sentence)));
  std::vector<std::pair<std::string_view, std::string>> facts = {
      {"job", starter_text(found.job.starter, found.job.origin)}};
  if (found.job.processes) facts.emplace_back("size", extent_text(*found.job.processes, found.job.facts));
  if (const std::string command = command_line_of(found); !command.empty()) facts.emplace_back("command", command);
  facts.emplace_back("looked at", time_text(found.taken));
  facts.emplace_back("ranks stopped for",
                     fmt::format("{:.1f} ms", 1000 * (found.stacks.held + found.queues.held).count()));
  facts.emplace_back("made by", fmt::format("mpiacq {}, on {}", version(), printable(found.host)));
  out.put("<dl>\n");
  for (const auto& [what, text] : facts)
    out.put(fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", what, html_text(text)));
  out.put(
      "</dl>\n<div class=\"tools\" hidden><button id=\"theme\" type=\"button\">Dark or light</button></div>\n"
      "</header>\n<main>\n");
}

void write_odd_ranks(report_stream& out, const findings& found) {
  const auto rows = odd_rows(found);
  if (rows.empty()) return;
  begin_section(out, "odd", "Look first at");
  out.put("<ul class=\"odd\">\n");
  for (const odd_row& row : rows) {
    out.put(fmt::format("<li><b>{}</b> {}</li>\n", html_text(ranks_words(row.ranks, found.queues.names)),
                        html_text(row.why)));
  }
  out.put("</ul>\n");
  end_section(out);
}

void write_failed_ranks(report_stream& out, const findings& found) {
  if (!found.crash) return;
  begin_section(out, "ends", "How ranks have failed");
  out.put("<ul class=\"odd\">\n");
  for (const end_row& row : end_rows(found)) {
    out.put(fmt::format("<li><b>{}</b> {}", html_text(row.who), html_text(row.how)));
    if (!row.registers.empty())
      out.put(fmt::format("<details><summary>registers</summary><code>{}</code></details>", html_text(row.registers)));
    out.put("</li>\n");
  }
  out.put("</ul>\n");
  for (const std::string& line : core_lines(found)) out.put(fmt::format("<p>{}</p>\n", html_text(line)));
  end_section(out);
}

void write_waits(report_stream& out, const findings& found) {
  const queues_snapshot& queues = found.queues;
  begin_section(out, "waits", "Who waits for whom");
  out.put("<div id=\"graph\" class=\"drawing\" hidden></div>\n");
  write_lines(out, waits_text(queues.waits, queues.names, queues.hosts, false));
  if (found.why.basis == verdict_basis::odd_ranks) write_lines(out, odd_text(queues.seen, queues.names));
  end_section(out);
}

void write_calls(report_stream& out) {
  begin_section(out, "calls", "Where the ranks are");
  out.put(R"(<div class="tools" hidden>
<label>Search <input id="search" type="search" placeholder="function, file or rank" autocomplete="off"></label>
<span id="hits" role="status"></span>
<button id="next" type="button">Next</button>
<button id="open-all" type="button">Unfold all</button>
<button id="close-all" type="button">Fold</button>
<button id="whole" type="button">Whole width</button>
</div>
<p class="legend tools" hidden>Each box is a call, below its caller; its width is the number of stacks in it.
<span class="program">program</span> <span class="mpi">MPI</span> <span class="library">system library</span>
Click or Enter folds, double click or z widens, arrow keys move, / searches.</p>
<div id="icicle" class="drawing" role="tree" aria-label="Calls of all ranks" hidden></div>
<div id="about" class="about" role="status" hidden></div>
<noscript><p>The drawing of the calls needs JavaScript. The text report (mpiacq report JOB) shows the same.</p></noscript>
)");
  end_section(out);
}

void write_history(report_stream& out, const findings& found) {
  if (!found.history) return;
  begin_section(out, "history", "How long the ranks have been where they are");
  write_lines(out, history_text(*found.history, found.queues.names));
  end_section(out);
}

void write_operations(report_stream& out, const findings& found) {
  const std::string operations = operations_text(found.queues);
  if (operations.empty()) return;
  begin_section(out, "operations", "Pending operations");
  write_lines(out, operations);
  end_section(out);
}

void write_ranks(report_stream& out, const findings& found) {
  begin_section(out, "ranks", "Ranks and nodes");
  write_lines(out, found.queues.hosts.line(found.queues.names));
  if (found.queues.names.has_worlds()) write_lines(out, world_lines(found.queues.worlds));
  out.put("<div id=\"rank-table\" hidden></div>\n");
  end_section(out);
}

void write_unknown(report_stream& out, const findings& found) {
  const std::string text =
      doubts_text(found.queues.waits) + problems_text(found.queues) + source_line(found.job.origin);
  begin_section(out, "unknown", "What is not known, and where the answers come from");
  write_lines(out, text + libraries_text(found.queues));
  end_section(out);
}

}  // namespace

void write_findings_page(report_stream& out, const findings& found, std::string_view nonce) {
  write_head(out, found, nonce);
  write_verdict(out, found);
  write_odd_ranks(out, found);
  write_failed_ranks(out, found);
  write_waits(out, found);
  write_calls(out);
  write_history(out, found);
  write_operations(out, found);
  write_ranks(out, found);
  write_unknown(out, found);
  out.put(fmt::format("</main>\n<script type=\"application/json\" id=\"data\" nonce=\"{}\">", nonce));
  json_writer data(out, true);
  write_page_data(data, found);
  out.put(fmt::format("</script>\n<script nonce=\"{}\">\n", nonce));
  out.put(page_script);
  out.put("</script>\n</body>\n</html>\n");
}

}  // namespace mpiacq::tool

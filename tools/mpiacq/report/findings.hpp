// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/queues/verdict.hpp"
#include "mpiacq/ranks/rank_core.hpp"
#include "mpiacq/ranks/rank_end.hpp"
#include "report/history_report.hpp"
#include "report/job_report.hpp"
#include "report/queues_report.hpp"
#include "report/report_stream.hpp"
#include "report/stacks_report.hpp"

namespace mpiacq::tool {

class json_writer;

/// What caused a report.
enum class report_cause : unsigned char { asked, hang, timeout, crash };
/// "asked", "hang", "timeout", "crash"
[[nodiscard]] std::string_view name(report_cause cause);

/// How ranks have failed.
struct crash_findings {
  std::vector<rank_end> failed;     ///< in the order in which they ended, by nodes
  std::vector<rank_end> meanwhile;  ///< the same, after all ranks had been held for the report
  rank_cores cores;
};

/// Everything that one look shows of a job, for the report that explains it.
struct findings {
  report_cause cause = report_cause::asked;
  verdict why;
  std::chrono::system_clock::time_point taken;  ///< when the look began
  std::string host;                             ///< the node on which mpiacq runs
  std::vector<std::string> command;             ///< the starter's arguments; empty if they are not known
  job_snapshot job;
  stacks_snapshot stacks;
  queues_snapshot queues;
  std::optional<crash_findings> crash;
  std::optional<history_snapshot> history = {};  ///< of a watch that takes samples
};

/// A row of the report's list of ranks to look at first.
struct odd_row {
  rank_set ranks;
  std::string why;  ///< "in no MPI call, at solver.c:88"; printable
};
/// One rank that has failed. `end` belongs to the findings.
struct shown_end {
  const rank_end* end;
  bool killed_while_held;  ///< SIGKILL has come while the rank was held for this report
};
/// All ranks that have failed.
[[nodiscard]] std::vector<shown_end> all_ends(const crash_findings& crash);
/// One rank that has failed, as a row of the report.
struct end_row {
  entry_index entry;
  std::string who;        ///< "rank 3 (process 42 on node1)"
  std::string how;        ///< "received SIGSEGV for address 0x0"; printable
  std::string registers;  ///< "rip 0x401136, rsp 0x7ffe0..., ..."; empty if they are not known
};
[[nodiscard]] std::vector<end_row> end_rows(const findings& found);
/// A sentence for each core file, and for each that could not be written; printable.
[[nodiscard]] std::vector<std::string> core_lines(const findings& found);
/// The ranks of the verdict by the places where they are.
[[nodiscard]] std::vector<odd_row> odd_rows(const findings& found);
/// The starter's command line as one line; printable. A long one is cut short.
[[nodiscard]] std::string command_line_of(const findings& found);

/// The report as text: the verdict, the ranks to look at first, who waits for whom, and the tree of stacks.
void write_findings_text(report_stream& out, const findings& found, bool colour);
/// A `mpiacq.report/1` document.
void write_findings(json_writer& out, const findings& found);
/// One HTML page that needs no network: the verdict, drawings of the stacks and of the waits, and the rest as text.
/// Every foreign string is escaped. `nonce` is a word that nobody can foresee; only scripts with it run.
void write_findings_page(report_stream& out, const findings& found, std::string_view nonce);

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/text/text_parts.hpp"

#include <algorithm>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "report/job_origin.hpp"

namespace mpiacq::tool {

std::string columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();
      text += last ? fmt::format("  {}", row[i]) : fmt::format("  {:<{}}", row[i], widths[i]);
    }
    text += '\n';
  }
  return text;
}

std::string layout_source_text(const structure_layout& layout, bool checked) {
  switch (layout.source) {
    case layout_source::dwarf:
      return "from the DWARF of " + printable(layout.module_path);
    case layout_source::debug_file:
      return "from the debug file " + printable(layout.debug_file);
    case layout_source::debuginfod:
      return "from a debuginfod server, " + printable(layout.debug_file);
    case layout_source::fixed:
      return "as the document defines it";
    case layout_source::inferred:
      break;
  }
  return fmt::format("inferred from the C ABI{} ({} has no debug information)",
                     checked ? " and checked against the table" : "", printable(layout.module_path));
}

std::string layout_text(const structure_layout& layout) {
  std::string text = fmt::format("{} bytes", layout.size);
  const char* separator = ": ";
  for (const char* field : {"host_name", "executable_name", "pid"}) {
    const structure_member* member = layout.find(field);
    if (member == nullptr) continue;
    text += fmt::format("{}{} at {} ({} bytes)", separator, field, member->offset, member->size);
    separator = ", ";
  }
  return text;
}

std::string starter_text(const starter_facts& starter, const job_origin& origin) {
  if (starter.pid != process_id{})
    return fmt::format("{} (pid {})", printable(starter.executable), starter.pid.value());
  return fmt::format("a job of {}", name(origin.launcher));
}

std::string source_line(const job_origin& origin) {
  switch (origin.source) {
    case interface_kind::mpir:
      return "  source: mpir (the starter's process table); ranks that MPI_Comm_spawn starts are not in it\n";
    case interface_kind::mpi2dd:
      return "  source: mpi2dd (the tables in the processes of the job)\n";
    case interface_kind::pmix:
      return "  source: pmix (the starter's own PMIx library asked the starter): it knows the ranks of all nodes\n";
    case interface_kind::environment:
      break;
  }
  return fmt::format(
      "  source: environment (the variables that {} sets for its ranks); the starter announces nothing: mpiacq sees no "
      "later events of the job\n",
      origin.launcher == launcher_kind::unknown ? "the launcher" : name(origin.launcher));
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string time_text(std::chrono::system_clock::time_point when) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(when)));
}

}  // namespace mpiacq::tool

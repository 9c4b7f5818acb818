// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/inspect_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands/advice.hpp"
#include "report/json/mpi2dd_json.hpp"
#include "report/text/table_text.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

std::string headline(const inspection& found) {
  std::string text = printable(found.what);
  if (found.pid) text += fmt::format(" (pid {})", found.pid->value());
  text += fmt::format(": {}-bit {}-endian", found.abi.pointer_size * 8,
                      found.abi.order == byte_order::little ? "little" : "big");
  if (!found.modules.empty()) {
    const std::string id = build_id_text(*found.modules.front());
    text += id.empty() ? ", no build id" : ", build id " + id;
    text += ", " + counted(found.modules.size() - 1, "library", "libraries");
  }
  return text + "\n";
}

std::string mpi2dd_text(const mpi2dd::process_info& info) {
  const mpi2dd::info_block& block = info.block;
  std::string text = fmt::format("  MPI2DD: version {}, variant {}; ", block.version, block.variant);
  const std::string_view state = mpi2dd::name(block.state);
  text += state.empty() ? fmt::format("debug_state {}", static_cast<unsigned>(block.state)) : std::string(state);
  text += fmt::format(
      "; {} in its proctable, {} and {} listed\n",
      counted(static_cast<std::size_t>(std::max(block.proctable_size, 0)), "process", "processes"),
      counted(static_cast<std::size_t>(std::max(block.directory_size, 0)), "directory", "directories"),
      counted(static_cast<std::size_t>(std::max(block.metadirectory_size, 0)), "metadirectory", "metadirectories"));
  text += fmt::format("    mpi_flags: {}\n    debugger_flags: {}\n", mpi2dd::text(block.mpi_flags),
                      mpi2dd::text(block.debugger_flags));
  if (info.has_metadirectory()) {
    text += fmt::format("    metadirectory: {} on {}  {}\n", block.meta_pid, printable(*info.meta_host),
                        printable(info.meta_executable.value_or("")));
  }
  if (info.queue_library_32) text += "    dll_name_32: " + printable(*info.queue_library_32) + "\n";
  if (info.queue_library_64) text += "    dll_name_64: " + printable(*info.queue_library_64) + "\n";
  if (info.abort_reason) text += "    abort_string: " + printable(*info.abort_reason) + "\n";
  for (const error& warning : info.warnings) text += "    problem: " + printable(warning.message) + "\n";
  return text;
}

/// The value of a variable of a process; empty if it has none to show.
std::string value_text(const inspected& seen, mpir::known id) {
  const auto value =
      std::find_if(seen.values.begin(), seen.values.end(), [&](const mpir::variable_value& v) { return v.id == id; });
  if (value == seen.values.end()) return {};
  if (const auto* number = std::get_if<std::int64_t>(&value->value)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&value->value)) return "\"" + printable(*text) + "\"";
  return fmt::format("{:#x}", std::get<target_address>(value->value).value());
}

json json_of_value(const decltype(mpir::variable_value::value)& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return fmt::format("{:#x}", std::get<target_address>(value).value());
}

/// The symbols of MPIR, and for a process the values of its variables.
json symbols_json(const inspected& seen) {
  json symbols = json_of(seen.program.symbols);
  for (const mpir::variable_value& one : seen.values) {
    symbols[std::string(mpir::about(one.id).name)]["value"] = json_of_value(one.value);
  }
  return symbols;
}

/// The symbols of MPI2DD as rows; the draft has no numbers for its sections.
void add_mpi2dd_rows(const inspection& found, std::vector<std::vector<std::string>>& rows) {
  for (const auto& symbol : {found.mpi2dd_info, found.mpi2dd_breakpoint}) {
    if (!symbol) continue;
    rows.push_back(
        {symbol->name, "MPI2DD", fmt::format("{:#x}", symbol->address().value()), "", printable(symbol->home->path)});
  }
}

json mpi2dd_json(const inspection& found) {
  if (!found.mpi2dd_info && !found.mpi2dd_breakpoint) return nullptr;
  json symbols = json::object();
  for (const auto& symbol : {found.mpi2dd_info, found.mpi2dd_breakpoint}) {
    if (!symbol) continue;
    symbols[symbol->name] = {{"module", symbol->home->path},
                             {"address", fmt::format("{:#x}", symbol->address().value())}};
  }
  return {{"symbols", std::move(symbols)}, {"info", found.mpi2dd ? json_of(*found.mpi2dd) : json(nullptr)}};
}

}  // namespace

std::string inspect_text(const inspected& seen) {
  const inspection& found = seen.program;
  std::string text = headline(found);
  std::vector<std::vector<std::string>> rows = {{"SYMBOL", "SECTION", "ADDRESS", "VALUE", "MODULE"}};
  std::vector<std::string_view> absent;
  for (const mpir::known_symbol& known : mpir::known_symbols()) {
    if (const auto& symbol = found.symbols[known.id]) {
      rows.push_back({std::string(known.name), std::string(known.section),
                      fmt::format("{:#x}", symbol->address().value()), value_text(seen, known.id),
                      printable(symbol->home->path)});
    } else {
      absent.push_back(known.name);
    }
  }
  const bool has_mpir = rows.size() > 1;
  add_mpi2dd_rows(found, rows);
  if (!found.pid) {
    for (auto& row : rows) row.erase(row.begin() + 3);  // a file has no values
  }
  if (rows.size() > 1) text += columns(rows);
  // For a program with MPI2DD alone, the names of MPIR are noise.
  if (!has_mpir && found.mpi2dd_info) {
    text += "  missing: all symbols of MPIR\n";
  } else if (!absent.empty()) {
    text += fmt::format("  missing: {}\n", fmt::join(absent, ", "));
  }
  if (found.layout) {
    text += fmt::format("  descriptor: {}; {}\n", layout_text(*found.layout), layout_source_text(*found.layout, false));
  }
  if (found.mpi2dd) text += mpi2dd_text(*found.mpi2dd);
  text += problem_text(found.problems);
  if (found.missing_symbols) text += "  lacking: " + advised(*found.missing_symbols) + "\n";
  return text;
}

json inspect_json(const inspected& seen) {
  const inspection& found = seen.program;
  json modules = json::array();
  for (const auto& module : found.modules) {
    modules.push_back({{"path", module->path},
                       {"build_id", or_null(build_id_text(*module))},
                       {"bias", fmt::format("{:#x}", module->bias.value())},
                       {"executable", module->is_executable}});
  }
  json problems = json::array();
  for (const error& problem : found.problems) problems.push_back(problem.message);
  return {{"schema", "mpiacq.inspect/1"},
          {"file", found.what},
          {"pid", found.pid ? json(found.pid->value()) : json(nullptr)},
          {"abi",
           {{"pointer_size", found.abi.pointer_size},
            {"byte_order", found.abi.order == byte_order::little ? "little" : "big"},
            {"machine", found.abi.elf_machine}}},
          {"modules", std::move(modules)},
          {"symbols", symbols_json(seen)},
          {"layout", json_of(found.layout ? &*found.layout : nullptr)},
          {"mpi2dd", mpi2dd_json(found)},
          {"lacking", or_null(found.missing_symbols)},
          {"problems", std::move(problems)}};
}

}  // namespace mpiacq::tool

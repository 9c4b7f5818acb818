// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "inspect_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "json_parts.hpp"
#include "text_parts.hpp"

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

}  // namespace

std::string inspect_text(const inspection& found) {
  std::string text = headline(found);
  std::vector<std::vector<std::string>> rows = {{"SYMBOL", "SECTION", "ADDRESS", "MODULE"}};
  std::vector<std::string_view> absent;
  for (const mpir::known_symbol& known : mpir::known_symbols()) {
    if (const auto& symbol = found.symbols[known.id]) {
      rows.push_back({std::string(known.name), std::string(known.section),
                      fmt::format("{:#x}", symbol->address().value()), printable(symbol->home->path)});
    } else {
      absent.push_back(known.name);
    }
  }
  if (rows.size() > 1) text += columns(rows);
  if (!absent.empty()) text += fmt::format("  not there: {}\n", fmt::join(absent, ", "));
  if (found.layout) {
    text += fmt::format("  descriptor: {}; {}\n", layout_text(*found.layout), layout_source_text(*found.layout, false));
  }
  for (const error& problem : found.problems) text += "  problem: " + printable(problem.message) + "\n";
  if (found.lacking) text += "  lacking: " + printable(*found.lacking) + "\n";
  return text;
}

std::string inspect_json(const inspection& found) {
  json modules = json::array();
  for (const auto& module : found.modules) {
    modules.push_back({{"path", module->path},
                       {"build_id", or_null(build_id_text(*module))},
                       {"bias", fmt::format("{:#x}", module->bias.value())},
                       {"executable", module->is_executable}});
  }
  json problems = json::array();
  for (const error& problem : found.problems) problems.push_back(problem.message);
  return dump({{"schema", "mpiacq.inspect/1"},
               {"file", found.what},
               {"pid", found.pid ? json(found.pid->value()) : json(nullptr)},
               {"abi",
                {{"pointer_size", found.abi.pointer_size},
                 {"byte_order", found.abi.order == byte_order::little ? "little" : "big"},
                 {"machine", found.abi.elf_machine}}},
               {"modules", std::move(modules)},
               {"symbols", json_of(found.symbols)},
               {"layout", json_of(found.layout ? &*found.layout : nullptr)},
               {"lacking", or_null(found.lacking)},
               {"problems", std::move(problems)}});
}

}  // namespace mpiacq::tool

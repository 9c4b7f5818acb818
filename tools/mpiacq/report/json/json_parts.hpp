// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The parts that several JSON documents share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "mpiacq/job/rank_names.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq::tool {

using json = nlohmann::ordered_json;

/// A number that may be missing.
template <class Number>
[[nodiscard]] json number_or_null(const std::optional<Number>& one) {
  return one ? json(*one) : json(nullptr);
}
[[nodiscard]] inline json or_null(const std::optional<std::string>& text) {
  return text ? json(*text) : json(nullptr);
}
[[nodiscard]] inline json or_null(const std::string& text) {
  return text.empty() ? json(nullptr) : json(text);
}

/// The world of an entry by its number, as in the names of ranks; null if the job has only one.
[[nodiscard]] inline json world_of(const rank_names& names, entry_index entry) {
  const std::uint32_t world = names.world(entry);
  return names.has_worlds() && world != rank_names::no_world ? json(world) : json(nullptr);
}
/// A reference to a rank: its number, or in a job of several worlds its name, "1:0".
[[nodiscard]] inline json rank_of(const rank_names& names, entry_index entry) {
  return names.has_worlds() ? json(names.of(entry)) : json(names.rank(entry).value());
}

/// Only the symbols that exist.
[[nodiscard]] inline json json_of(const mpir::symbol_set& symbols) {
  json all = json::object();
  for (const mpir::known_symbol& known : mpir::known_symbols()) {
    const auto& found = symbols[known.id];
    if (!found) continue;
    all[std::string(known.name)] = {{"module", found->home->path},
                                    {"address", fmt::format("{:#x}", found->address().value())}};
  }
  return all;
}

[[nodiscard]] inline json json_of(const structure_layout* layout) {
  if (layout == nullptr) return nullptr;
  json document = {{"source", name(layout->source)},
                   {"module", layout->module_path},
                   {"file", or_null(layout->debug_file)},
                   {"size", layout->size}};
  for (const char* field : {"host_name", "executable_name"}) {
    const structure_member* member = layout->find(field);
    document[field] = member == nullptr ? json(nullptr) : json(member->offset);
  }
  const structure_member* pid = layout->find("pid");
  document["pid"] = pid == nullptr ? json(nullptr) : json{{"offset", pid->offset}, {"size", pid->size}};
  return document;
}

}  // namespace mpiacq::tool

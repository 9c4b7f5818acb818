// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Compares types with the library to which they belong.
#include <algorithm>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/base/remedies.hpp"
#include "mpiacq/queues/type_carriers.hpp"
#include "types/recipes.hpp"

namespace mpiacq {

namespace {

using carriers::recipe;
using carriers::size_rule;
using carriers::size_witness;

result<std::optional<structure_layout>> c_type(type_source& types, std::string_view name) {
  return types.type_named(name, source_language::c);
}

/// The size of a type according to the library; empty if the library does not show it.
result<std::optional<std::uint64_t>> size_by_library(const size_rule& rule, const symbol& witness, type_source& types,
                                                     memory_reader& memory, const target_abi& abi) {
  if (rule.by == size_witness::object) return witness.size == 0 ? std::nullopt : std::optional{witness.size};
  auto description = TRY(c_type(types, "opal_class_t"));
  const structure_member* size = description ? description->find("cls_sizeof") : nullptr;
  if (size == nullptr || size->size != abi.size_t_size) return std::nullopt;
  const auto value = read_unsigned(memory, abi, witness.address() + size->offset, abi.size_t_size);
  return value ? std::optional{*value} : std::nullopt;
}

result<void> check_one(const recipe& of, const size_rule& rule, const symbol& witness, type_source& types,
                       memory_reader& memory, const target_abi& abi, std::vector<std::string>& compared) {
  auto type = TRY(c_type(types, rule.type));
  if (!type) return {};
  auto size = size_by_library(rule, witness, types, memory, abi);
  if (!size) return fail(std::move(size).error());
  if (!*size) return {};
  if (type->size != **size) {
    return fail(error{error_code::bad_format,
                      fmt::format("{} has {} bytes in the types of {}, and {} in {}: they are another version's, or "
                                  "another build's",
                                  rule.type, type->size, of.title, **size, witness.home->path)}
                    .on(witness.home->path));
  }
  if (std::find(compared.begin(), compared.end(), rule.type) == compared.end()) compared.emplace_back(rule.type);
  return {};
}

}  // namespace

result<std::vector<std::string>> check_types(type_source& types, memory_reader& memory, const target_abi& abi,
                                             symbol_source& symbols, const module* only_in) {
  std::vector<std::string> compared;
  for (const recipe& of : carriers::all_recipes()) {
    std::vector<std::string_view> names;
    for (const size_rule& rule : of.sizes) names.push_back(rule.symbol);
    if (names.empty()) continue;
    auto found = TRY(symbols.look_up(names, {true, only_in}));
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto& witness = found[i];
      if (!witness) continue;
      TRY(check_one(of, of.sizes[i], *witness, types, memory, abi, compared));
    }
  }
  return compared;
}

std::string about_missing_types(std::string_view first_missing, std::size_t count) {
  std::string sentence = fmt::format("there is no source for the type {}", first_missing);
  if (count > 1) sentence += fmt::format(" and {} more", count - 1);
  sentence += " that the message-queue library asks for: ";
  for (const recipe& of : carriers::all_recipes()) {
    std::string_view beginnings = of.type_names;
    while (!beginnings.empty()) {
      const std::string_view one = beginnings.substr(0, beginnings.find(' '));
      if (first_missing.starts_with(one)) return sentence + std::string{of.remedy};
      beginnings.remove_prefix(std::min(one.size() + 1, beginnings.size()));
    }
  }
  return sentence + fmt::format("build its MPI with debug information, or {}", remedies::name_types_file);
}

}  // namespace mpiacq

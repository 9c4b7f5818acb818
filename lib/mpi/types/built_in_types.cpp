// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Types for a process from the layouts that this library contains.
#include <algorithm>

#include <fmt/format.h>

#include "mpiacq/base/memory.hpp"
#include "mpiacq/queues/type_carriers.hpp"
#include "types/layouts.hpp"
#include "types/recipes.hpp"

namespace mpiacq {

namespace {

using carriers::max_version;
using carriers::recipe;
using carriers::release_layouts;

/// The number of sizes that a process must confirm before the types are used. Open MPI's libraries show the sizes of 19
/// types.
constexpr std::size_t least_compared = 10;

class listed_types final : public type_source {
 public:
  explicit listed_types(release_layouts layouts) : layouts_(std::move(layouts)) {
    for (structure_layout& type : layouts_.types) {
      type.debug_file = fmt::format("the built-in types of {} {}", layouts_.mpi, layouts_.version);
    }
  }
  [[nodiscard]] result<std::optional<structure_layout>> type_named(std::string_view type_name,
                                                                   source_language /*language*/) override {
    constexpr std::string_view tag = "struct ";
    if (type_name.starts_with(tag)) type_name.remove_prefix(tag.size());
    const auto found = std::find_if(layouts_.types.begin(), layouts_.types.end(),
                                    [&](const structure_layout& type) { return type.name == type_name; });
    return found == layouts_.types.end() ? std::nullopt : std::optional{*found};
  }

 private:
  release_layouts layouts_;
};

/// "4.1" of "4.1.4" and of "4.1.7rc1".
std::string_view series_of(std::string_view version) {
  const std::size_t minor = version.find('.');
  return version.substr(0, minor == std::string_view::npos ? minor : version.find('.', minor + 1));
}

/// The version that the process's library states; empty if it states none.
std::string version_in(const recipe& of, memory_reader& memory, symbol_source& symbols) {
  const auto found = symbols.look_up({&of.version_symbol, 1}, {true, nullptr});
  if (!found || !found->front()) return {};
  auto text = read_c_string(memory, found->front()->address(), max_version);
  return text ? *text : std::string{};
}

/// The layouts of the library's release; empty if they are for another machine, or if there are none.
std::optional<release_layouts> layouts_for(const recipe& of, std::string_view version, const target_abi& abi) {
  constexpr std::uint16_t x86_64 = 62;
  if (abi != abi_of_elf(2, 1, x86_64)) return std::nullopt;
  for (const std::string_view text : carriers::built_in_layouts()) {
    auto layouts = carriers::parse_layouts(text);
    if (layouts && layouts->mpi == of.name && series_of(layouts->version) == series_of(version)) {
      return std::move(*layouts);
    }
  }
  return std::nullopt;
}

}  // namespace

result<std::optional<built_in_types>> find_built_in_types(memory_reader& memory, const target_abi& abi,
                                                          symbol_source& symbols) {
  for (const recipe& of : carriers::all_recipes()) {
    const std::string version = of.version_symbol.empty() ? std::string{} : version_in(of, memory, symbols);
    auto layouts = version.empty() ? std::nullopt : layouts_for(of, version, abi);
    if (!layouts) continue;
    built_in_types found;
    found.title = fmt::format("{} {}", of.title, layouts->version);
    found.types = std::make_shared<listed_types>(std::move(*layouts));
    auto compared = check_types(*found.types, memory, abi, symbols);
    if (!compared) {
      return fail(
          std::move(compared).error().while_doing(fmt::format("the built-in types of {} do not fit", found.title)));
    }
    if (compared->size() < least_compared) {
      return fail(error_code::bad_format,
                  fmt::format("the built-in types of {} are not used: the process shows the sizes of only {} of them",
                              found.title, compared->size()));
    }
    found.compared = std::move(*compared);
    return found;
  }
  return std::nullopt;
}

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The PML that an Open MPI process uses, and which of its operations the queue library can see.
#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <tuple>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/queues/queue_types.hpp"

namespace mpiacq {

namespace {

/// Open MPI's PMLs. The queue library reads the requests that ob1 and related PMLs keep in their free lists.
struct known_pml {
  std::string_view name;
  std::string_view a_function;  ///< a function that `mca_pml` contains while this PML is in use
  std::string_view not_seen;    ///< why its operations are not shown; empty: they are shown
};
constexpr std::string_view outside = "its operations are kept in a library outside of Open MPI";
constexpr known_pml pmls[] = {
    {"ob1", "mca_pml_ob1_isend", {}},
    {"bfo", "mca_pml_bfo_isend", {}},
    {"csum", "mca_pml_csum_isend", {}},
    {"dr", "mca_pml_dr_isend", {}},
    {"cm", "mca_pml_cm_add_procs", "its requests have another layout, so their values are meaningless"},
    {"ucx", "mca_pml_ucx_isend", outside},
    {"yalla", "mca_pml_yalla_isend", outside},
    {"monitoring", "mca_pml_monitoring_isend", "it passes all operations on to another PML"},
    {"v", "mca_pml_v_isend", "it passes all operations on to another PML"},
};

constexpr std::uint64_t max_table = 4096;  ///< bytes of `mca_pml`: about twenty pointers
constexpr std::uint64_t max_name = 64;     ///< MCA_BASE_MAX_COMPONENT_NAME_LEN

/// The name in the selected component.
result<std::optional<std::string>> by_types(target& process, type_source& types, const symbol& selected) {
  auto pml = TRY(types.type_named("mca_pml_base_component_t", source_language::c));
  auto base = TRY(types.type_named("mca_base_component_t", source_language::c));
  const structure_member* version = pml ? pml->find("pmlm_version") : nullptr;
  const structure_member* name = base ? base->find("mca_component_name") : nullptr;
  if (version == nullptr || name == nullptr || name->size == 0 || name->size > max_name) return std::nullopt;
  const auto text = read_c_string(process.memory, selected.address() + version->offset + name->offset,
                                  static_cast<std::size_t>(name->size));
  // If the name cannot be read, it is not known. A process that cannot be read at all is detected elsewhere.
  if (!text || text->empty()) return std::nullopt;
  const bool is_name = std::all_of(text->begin(), text->end(),
                                   [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
  return is_name ? std::optional{*text} : std::nullopt;
}

/// The PML whose functions are in the table of the PML in use. Most PMLs are in a library of their own, which is loaded
/// only if Open MPI considered the PML.
result<std::optional<std::string>> by_functions(target& process, const symbol& table) {
  std::array<std::string_view, std::size(pmls)> names;
  std::transform(std::begin(pmls), std::end(pmls), names.begin(), [](const known_pml& p) { return p.a_function; });
  auto functions = TRY(process.symbols.look_up(names, {true, nullptr}));
  const std::size_t width = process.abi.pointer_size;
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(table.size, max_table)) / width * width);
  if (!read_exact(process.memory, table.address(), bytes)) return std::nullopt;
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    const target_address pointer{decode_unsigned(std::span{bytes}.subspan(at, width), process.abi.order)};
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (functions[i] && functions[i]->address() == pointer) return std::string{pmls[i].name};
    }
  }
  return std::nullopt;
}

}  // namespace

result<std::optional<std::string>> pml_in_use(target& process, type_source& types) {
  constexpr std::array<std::string_view, 2> names = {"mca_pml_base_selected_component", "mca_pml"};
  auto found = TRY(process.symbols.look_up(names, {true, nullptr}));
  const auto& [selected, table] = std::tie(found[0], found[1]);
  if (selected) {
    auto name = by_types(process, types, *selected);
    if (!name || *name) return name;
  }
  if (!table) return std::nullopt;
  return by_functions(process, *table);
}

std::optional<std::string> about_pml(std::string_view pml) {
  const auto* known = std::find_if(std::begin(pmls), std::end(pmls), [&](const known_pml& p) { return p.name == pml; });
  if (known != std::end(pmls) && known->not_seen.empty()) return std::nullopt;
  const std::string_view why =
      known == std::end(pmls) ? "whether its operations are shown is not known" : known->not_seen;
  return fmt::format(
      "Open MPI's queue library does not see the operations of the PML in use, {}: {}; an empty queue means "
      "nothing here. If the job can be started again, `mpirun --mca pml ob1` makes them visible",
      pml, why);
}

}  // namespace mpiacq

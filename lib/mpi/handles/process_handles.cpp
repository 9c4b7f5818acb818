// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "handles/process_handles.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "errors/try.hpp"

namespace mpiacq {

namespace {

using found_symbols = std::vector<std::optional<symbol>>;

/// One function of every MPI; one variable that MPICH alone has; Open MPI's objects, and what describes them.
std::vector<std::string_view> wanted_symbols() {
  std::vector<std::string_view> names = {"MPI_Init", "MPI_UNWEIGHTED"};
  names.insert(names.end(), openmpi_symbols.begin(), openmpi_symbols.end());
  for (const predefined_handle& row : predefined_handles()) {
    if (!row.openmpi.empty()) names.push_back(row.openmpi);
  }
  return names;
}

mpi_abi abi_by(const found_symbols& found) {
  const std::string library = found.front() ? found.front()->home->path : "";
  return abi_of_library(library, [&](const std::string& name) {
    return std::any_of(found.begin(), found.end(), [&](const auto& each) { return each && each->name == name; });
  });
}

}  // namespace

handle_context process_handles::context(mpi_language language) const {
  return {abi, language, address_bytes, [this](std::uint64_t where) {
            const auto at = objects.find(where);
            return at == objects.end() ? std::string{} : at->second;
          }};
}

std::optional<target_address> process_handles::address_of(std::string_view symbol) const {
  for (const auto& [where, name] : objects) {
    if (name == symbol) return target_address{where};
  }
  return std::nullopt;
}

result<process_handles> find_process_handles(target& process) {
  const auto names = wanted_symbols();
  const auto found = TRY(process.symbols.look_up(names, {true, nullptr}));
  process_handles made;
  made.address_bytes = static_cast<std::uint8_t>(process.abi.pointer_size);
  made.abi = abi_by(found);
  if (made.abi != mpi_abi::openmpi) return made;
  for (const auto& each : found) {
    if (each && each->kind == symbol_kind::data) made.objects.emplace(each->address().value(), each->name);
  }
  return made;
}

void find_layouts(target& process, type_source& types, process_handles& into) {
  if (into.abi == mpi_abi::openmpi) into.layouts = find_openmpi_objects(types);
  if (into.abi != mpi_abi::mpich) return;
  auto mpich = find_mpich_objects(types);
  if (!mpich) return;
  const auto found = process.symbols.find_symbols(mpich_symbols);
  if (!found) return;
  for (const auto& each : *found) {
    if (!each || each->kind != symbol_kind::data) continue;
    into.objects.emplace(each->address().value(), each->name);
    if (each->name == mpich_request_tables) mpich->request_tables = each->size / mpich->table.bytes;
  }
  into.mpich = std::move(mpich);
}

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "queue_library.hpp"

#include "local_targets.hpp"
#include "mpiacq/mpi2dd_info.hpp"
#include "mpiacq/mpir.hpp"
#include "mpiacq/process_symbols.hpp"
#include "mpiacq/tracer.hpp"

namespace mpiacq {

namespace {
std::optional<mpi2dd::process_info> info_of(const local_targets& targets, process_id pid) {
  const auto opened = targets.open(targets.host(), pid, {});
  if (!opened) return std::nullopt;
  auto read = mpi2dd::read_info((*opened)->as_target());
  return read ? std::move(*read) : std::nullopt;
}
}  // namespace

std::optional<std::string> mpi2dd_queue_library_of(process_id rank, process_id starter) {
  const local_targets targets;
  for (const process_id pid : {rank, starter}) {
    const auto info = info_of(targets, pid);
    if (!info) continue;
    if (info->block.mpi_flags.has(mpi2dd::mpi_flag::ignore_queue)) return std::nullopt;
    const auto& library = sizeof(void*) == 4 ? info->queue_library_32 : info->queue_library_64;
    if (library && !library->empty()) return library;
  }
  return std::nullopt;
}

std::optional<std::string> queue_library_of(process_id pid) {
  constexpr std::size_t max_path = 4096;
  process_memory memory(pid);
  page_cache cache(memory);
  auto symbols = process_symbols::open(pid, cache);
  if (!symbols) return std::nullopt;
  const auto name = mpir::known_symbols()[static_cast<std::size_t>(mpir::known::dll_name)].name;
  const auto found = (*symbols)->find_symbol(name);
  if (!found || !*found) return std::nullopt;
  const symbol& dll_name = **found;

  target_address text = dll_name.address();
  if (dll_name.size == (*symbols)->abi().pointer_size) {
    const auto pointer = read_pointer(cache, (*symbols)->abi(), text);
    if (!pointer || pointer->is_null()) return std::nullopt;
    text = *pointer;
  }
  auto path = read_c_string(cache, text, max_path);
  if (!path || path->empty()) return std::nullopt;
  return std::move(*path);
}

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "queue_library.hpp"

#include "mpiacq/mpir.hpp"
#include "mpiacq/process_symbols.hpp"
#include "mpiacq/tracer.hpp"

namespace mpiacq {

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

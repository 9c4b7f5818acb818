// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "rank_stack.hpp"

#include <algorithm>
#include <array>

namespace mpiacq::check {

namespace {

/// The frames of main and MPI_Init are the oldest, so the end of the stack is what counts. A main with larger local
/// variables than this is not seen through.
constexpr std::uint64_t longest_stack = 1U << 20;

std::vector<code_range> ranges_of(process_symbols& symbols, std::span<const std::string_view> names,
                                  const symbol_scope& scope) {
  std::vector<code_range> ranges;
  const auto found = symbols.look_up(names, scope);
  if (!found) return ranges;
  for (const auto& symbol : *found) {
    if (symbol && symbol->kind == symbol_kind::function && symbol->size != 0) {
      ranges.push_back({symbol->address(), symbol->size});
    }
  }
  return ranges;
}

bool any_holds(const std::vector<code_range>& ranges, std::uint64_t address) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const code_range& r) { return r.holds_return_address(address); });
}

}  // namespace

landmarks landmarks_of(process_symbols& symbols) {
  landmarks known;
  constexpr std::array<std::string_view, 1> main_name = {"main"};
  constexpr std::array<std::string_view, 4> init_names = {"MPI_Init", "PMPI_Init", "MPI_Init_thread",
                                                          "PMPI_Init_thread"};
  symbol_scope executable;
  if (!symbols.modules().empty()) executable.only_in = symbols.modules().front().get();
  known.main = ranges_of(symbols, main_name, executable);
  known.mpi_init = ranges_of(symbols, init_names, {.loaded_only = true});
  // A program that is linked statically, or has its MPI library in itself, need not export it.
  if (known.mpi_init.empty()) known.mpi_init = ranges_of(symbols, init_names, executable);
  return known;
}

std::optional<calls_in_progress> calls_on_stack(memory_reader& memory, const target_abi& abi, target_address from,
                                                target_address to, const landmarks& known) {
  if (from.value() > to.value()) return std::nullopt;
  const std::uint64_t width = abi.pointer_size;
  std::uint64_t begin = std::max(from.value(), to.value() - std::min(to.value(), longest_stack));
  begin = (begin + width - 1) / width * width;
  if (begin >= to.value()) return calls_in_progress{};
  std::vector<std::byte> bytes(to.value() - begin);
  if (!read_exact(memory, target_address{begin}, bytes)) return std::nullopt;
  calls_in_progress calls;
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    const std::uint64_t word = decode_unsigned(std::span{bytes}.subspan(at, width), abi.order);
    calls.main = calls.main || any_holds(known.main, word);
    calls.mpi_init = calls.mpi_init || any_holds(known.mpi_init, word);
  }
  return calls;
}

}  // namespace mpiacq::check

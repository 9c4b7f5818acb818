// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "watch/rank_stack.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "watch/call_sites.hpp"

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

bool begins_at(const std::vector<code_range>& ranges, target_address address) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const code_range& r) { return r.begin == address; });
}

/// Whether one of the words returns from a call of MPI_Init. Also true if a word may be such a return.
bool returns_from_init(memory_reader& memory, const target_abi& abi, std::span<const std::uint64_t> words,
                       const landmarks& known) {
  for (const std::uint64_t word : words) {
    const auto site = call_before(memory, abi, target_address{word});
    if (!site || site->what == call_site::kind::unknown) return true;
    if (site->what == call_site::kind::known && begins_at(known.mpi_init, site->target)) return true;
  }
  return false;
}

}  // namespace

landmarks landmarks_of(process_symbols& symbols, process_id pid) {
  landmarks known;
  known.code = executable_memory_of(pid);
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
  bool into_init = false;
  std::vector<std::uint64_t> above;  // words that could be returns, from the first into MPI_Init to main's
  for (std::size_t at = 0; at + width <= bytes.size() && !calls.main; at += width) {
    const std::uint64_t word = decode_unsigned(std::span{bytes}.subspan(at, width), abi.order);
    calls.main = any_holds(known.main, word);
    if (into_init && any_holds(known.code, word)) above.push_back(word);
    into_init = into_init || any_holds(known.mpi_init, word);
  }
  calls.mpi_init = into_init && returns_from_init(memory, abi, above, known);
  return calls;
}

}  // namespace mpiacq::check

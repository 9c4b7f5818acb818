// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/mpir/mpir_ranks.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "mpir_variables.hpp"

namespace mpiacq::mpir {

namespace {

std::vector<action> set(const target_abi& abi, const std::optional<symbol>& variable, known what, std::uint64_t value) {
  if (!variable) return {};
  auto bytes = integer_bytes(abi, *variable, value);
  if (!bytes) return {report_problem{std::move(bytes).error()}};
  return {write_memory{variable->address(), std::move(*bytes), what}};
}

}  // namespace

result<rank_symbols> find_rank_symbols(symbol_source& symbols) {
  // MPI_Init is not a symbol of the interface. Its module is the MPI library, which also holds the variables that are
  // not exported.
  const std::array names = {about(known::being_debugged).name, about(known::debug_gate).name,
                            std::string_view{"MPI_Init"}};
  auto loaded = TRY(symbols.look_up(names, {.loaded_only = true}));
  rank_symbols rank{std::move(loaded[0]), std::move(loaded[1])};
  if (rank.being_debugged && rank.debug_gate) return rank;

  symbol_scope rest;
  if (const auto& library = loaded[2]) rest.only_in = library->home.get();
  auto more = TRY(symbols.look_up(std::span{names}.first(2), rest));
  if (!rank.being_debugged) rank.being_debugged = std::move(more[0]);
  if (!rank.debug_gate) rank.debug_gate = std::move(more[1]);
  return rank;
}

std::vector<action> rank_attached(const target_abi& abi, const rank_symbols& rank) {
  return set(abi, rank.being_debugged, known::being_debugged, 1);
}
std::vector<action> rank_release(const target_abi& abi, const rank_symbols& rank) {
  return set(abi, rank.debug_gate, known::debug_gate, 1);
}
std::vector<action> rank_before_detach(const target_abi& abi, const rank_symbols& rank) {
  return set(abi, rank.being_debugged, known::being_debugged, 0);
}

result<release_plan> plan_release(const job_facts& facts, std::size_t ranks, std::span<const entry_index> wanted) {
  std::vector<bool> is_wanted(ranks, false);
  for (const entry_index entry : wanted) {
    if (entry.value() >= ranks) {
      return fail(error_code::invalid_argument, fmt::format("there is no rank {}: the job has {}", entry.value(),
                                                            ranks == 0   ? "none"
                                                            : ranks == 1 ? "rank 0 alone"
                                                                         : fmt::format("ranks 0 to {}", ranks - 1)));
    }
    is_wanted[entry.value()] = true;
  }
  release_plan plan;
  plan.starter_alone = facts.partial_attach_ok;
  if (plan.starter_alone) return plan;
  plan.gates.reserve(ranks);
  for (std::size_t i = 0; i < ranks; ++i) {
    plan.gates.emplace_back(i);
    if (!is_wanted[i]) plan.only_for_the_gate.emplace_back(i);
  }
  return plan;
}

}  // namespace mpiacq::mpir

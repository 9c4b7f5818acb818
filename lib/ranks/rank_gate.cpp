// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "rank_gate.hpp"

#include <utility>
#include <vector>

#include "errors/try.hpp"
#include "mpiacq/mpi2dd/mpi2dd_acquisition.hpp"

namespace mpiacq {

namespace {

result<bool> open_mpir_gate(process_id rank, std::optional<user_id> user, const debug_file_search& search) {
  rank_view view(rank, user);
  TRY(look(view, rank, search));
  if (!view.known.debug_gate) return false;
  const symbol& gate = *view.known.debug_gate;
  const auto is = read_signed(view.cache, view.symbols->abi(), gate.address(), gate.size == 0 ? 4 : gate.size);
  if (is && *is != 0) return true;
  if (auto written = write_all(view, mpir::rank_release(view.symbols->abi(), view.known)); !written)
    return fail(std::move(written).error());
  return true;
}

result<bool> open_mpi2dd_gate(process_id rank, std::optional<user_id> user, const debug_file_search& search) {
  rank_view view(rank, user);
  auto opened = TRY(process_symbols::open(rank, view.cache, search));
  const target seen{view.cache, &view.memory, opened->abi(), *opened};
  const auto gate = TRY(mpi2dd::gate_of_rank(seen));
  if (!gate) return false;
  for (const mpi2dd::write_flags& write : *gate) TRY(view.memory.write(write.address, write.bytes));
  return true;
}

}  // namespace

result<void> look(rank_view& view, process_id rank, const debug_file_search& search) {
  auto opened = TRY(process_symbols::open(rank, view.cache, search));
  view.symbols = std::move(opened);
  auto known = TRY(mpir::find_rank_symbols(*view.symbols));
  view.known = std::move(known);
  return {};
}

result<void> write_all(rank_view& view, const std::vector<mpir::action>& actions) {
  for (const mpir::action& action : actions) {
    const auto* write = std::get_if<mpir::write_memory>(&action);
    if (write == nullptr) continue;
    if (auto written = view.memory.write(write->address, write->bytes); !written) return written;
  }
  return {};
}

result<bool> open_rank_gate(process_id rank, std::optional<user_id> user, interface_kind kind,
                            const debug_file_search& search) {
  return kind == interface_kind::mpi2dd ? open_mpi2dd_gate(rank, user, search) : open_mpir_gate(rank, user, search);
}

}  // namespace mpiacq

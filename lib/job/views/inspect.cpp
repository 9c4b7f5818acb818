// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "errors/try.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/process/tracer.hpp"
#include "proc/process_state.hpp"
#include "starter/missing_symbols.hpp"

namespace mpiacq {

namespace {

result<void> look_for_mpi2dd(symbol_source& source, inspection& found) {
  const std::array names = {mpi2dd::info_symbol, mpi2dd::breakpoint_symbol};
  auto symbols = TRY(source.find_symbols(names));
  found.mpi2dd_info = std::move(symbols[0]);
  found.mpi2dd_breakpoint = std::move(symbols[1]);
  return {};
}

bool has_anything_of_mpir(const mpir::symbol_set& symbols) {
  const auto known = mpir::known_symbols();
  return std::any_of(known.begin(), known.end(), [&](const mpir::known_symbol& k) { return symbols.has(k.id); });
}

/// The part that files and processes share: both give modules, symbols and types in the same way.
template <class Source>
result<inspection> inspect(Source& source, std::string what) {
  inspection found;
  found.what = std::move(what);
  found.abi = source.abi();

  auto symbols = TRY(mpir::find_symbols(source));
  found.symbols = std::move(symbols);

  if (const auto& table = found.symbols[mpir::known::proctable]) {
    const auto& breakpoint = found.symbols[mpir::known::breakpoint];
    auto layout = source.layout_pointed_to_by(*table, breakpoint ? &*breakpoint : nullptr);
    if (!layout) {
      found.problems.push_back(std::move(layout).error());
    } else if (*layout) {
      found.layout = std::move(**layout);
    }
    if (!found.layout) {
      found.layout = inferred_descriptor_layout(found.abi);
      found.layout->module_path = table->home->path;
    }
  }
  found.modules.assign(source.modules().begin(), source.modules().end());
  found.problems.insert(found.problems.end(), source.problems().begin(), source.problems().end());
  TRY(look_for_mpi2dd(source, found));
  const bool speaks_only_mpi2dd = found.mpi2dd_info && !has_anything_of_mpir(found.symbols);
  if (!found.symbols.complete() && !speaks_only_mpi2dd) {
    found.missing_symbols = missing_symbols_sentence(found.symbols, source.modules(), source.executable_is_stripped());
  }
  return found;
}

}  // namespace

result<inspection> inspect_file(const std::string& path, const debug_file_search& search) {
  auto source = TRY(file_symbols::open(path, search));
  return inspect(*source, path);
}

result<inspection> inspect_process(process_id pid, const debug_file_search& search) {
  process_memory memory(pid);
  page_cache cache(memory);
  auto source = TRY(process_symbols::open(pid, cache, search));
  auto found = inspect(*source, executable_of(pid));
  if (!found) return found;
  found->pid = pid;
  if (!found->mpi2dd_info) return found;
  auto info = mpi2dd::read_info(target{cache, nullptr, source->abi(), *source}, *found->mpi2dd_info);
  if (info) {
    found->mpi2dd = std::move(*info);
  } else {
    found->problems.push_back(std::move(info).error());
  }
  return found;
}

}  // namespace mpiacq

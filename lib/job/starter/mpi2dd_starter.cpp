// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "starter/mpi2dd_starter.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "local_targets.hpp"
#include "mpiacq/mpi2dd/mpi2dd_graph.hpp"
#include "mpiacq/process/tracer.hpp"
#include "starter/missing_symbols.hpp"

namespace mpiacq {

namespace {

/// The flags of a process that speaks the interface.
std::optional<mpi2dd::info_block> block_of(const local_targets& targets, process_id pid) {
  const auto opened = targets.open(targets.host(), pid, {});
  if (!opened) return std::nullopt;
  const target seen = (*opened)->as_target();
  const auto info = mpi2dd::find_info(seen);
  if (!info || !*info) return std::nullopt;
  const auto block = mpi2dd::read_info_block(seen, (*info)->address());
  return block ? std::optional{*block} : std::nullopt;
}

/// Worlds that were connected bring their own starters. The one with our metadirectory is ours; else the nearest.
const mpi2dd::visit* starter_in(const mpi2dd::graph& job, const std::string& here) {
  const auto meta = job.visits().front().meta;
  const mpi2dd::visit* best = nullptr;
  for (const mpi2dd::visit& seen : job.visits()) {
    if (seen.state != mpi2dd::visit_state::read || !seen.is_starter() || job.host(seen.process) != here) continue;
    // Who begins at a metadirectory has it as its own.
    const bool is_ours = seen.meta == meta.value_or(job.start()) || seen.process == meta;
    if (is_ours) return &seen;
    if (best == nullptr) best = &seen;
  }
  return best;
}

std::string part_of(const mpi2dd::graph& job) {
  const auto self = job.start();
  if (const auto rank = job.rank(self)) {
    const auto world = job.world_of(self);
    return fmt::format("rank {} of world {}", *rank, world ? job.worlds()[index(*world)].id : "?");
  }
  const mpi2dd::visit& seen = job.visits().front();
  return seen.is_metadirectory() ? "a metadirectory" : seen.is_directory() ? "a directory" : "a process of a job";
}

}  // namespace

result<std::optional<found_starter>> find_mpi2dd_starter(process_id named, const debug_file_search& search) {
  const auto targets = local_targets::around(named, search);
  const auto block = block_of(targets, named);
  if (!block) return std::nullopt;
  const auto itself = [&](std::string how) {
    return std::optional{found_starter{named, std::move(how), interface_kind::mpi2dd}};
  };
  if (block->mpi_flags.has(mpi2dd::mpi_flag::i_am_starter)) return itself({});
  const auto job = mpi2dd::walk(targets.start(named), targets.opener(), targets.options());
  if (!job) return fail(job.error());
  const mpi2dd::visit* starter = starter_in(*job, targets.host());
  if (starter == nullptr) {
    return itself(
        fmt::format("{} is {}, and no table of its job on this node names the starter: the job is seen from "
                    "there, and its starter is left alone",
                    with_executable(named), part_of(*job)));
  }
  const process_id pid = job->pid(starter->process);
  return std::optional{found_starter{pid,
                                     fmt::format("{} is {}: attached to the starter {}, which its job's tables lead to",
                                                 with_executable(named), part_of(*job), with_executable(pid)),
                                     interface_kind::mpi2dd, targets.user()}};
}

std::optional<found_starter> mpi2dd_starter_below(process_id wrapper, const debug_file_search& search) {
  const auto targets = local_targets::around(wrapper, search);
  for (const process_id pid : processes_of_this_node()) {
    const auto above = ancestors_of(pid);
    if (std::find(above.begin(), above.end(), wrapper) == above.end()) continue;
    const auto block = block_of(targets, pid);
    if (!block || !block->mpi_flags.has(mpi2dd::mpi_flag::i_am_starter)) continue;
    return found_starter{pid,
                         fmt::format("{} is no starter: attached to {}, which it has started", with_executable(wrapper),
                                     with_executable(pid)),
                         interface_kind::mpi2dd, targets.user()};
  }
  return std::nullopt;
}

error no_mpi2dd(process_id named, const debug_file_search& search) {
  process_memory memory(named);
  page_cache cache(memory);
  auto symbols = process_symbols::open(named, cache, search);
  if (!symbols) return std::move(symbols).error();
  const target seen{cache, nullptr, (*symbols)->abi(), **symbols};
  const auto info = mpi2dd::find_info(seen);
  if (!info) return info.error();
  if (*info) {
    const auto block = mpi2dd::read_info_block(seen, (*info)->address());
    if (!block) return error{block.error()}.while_doing(with_executable(named));
  }
  return error{error_code::not_found,
               fmt::format("{} is no starter and no process of an MPI2DD job: {}", with_executable(named),
                           missing_mpi2dd_sentence((*symbols)->modules(), (*symbols)->executable_is_stripped()))};
}

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "starter/mpi2dd_starter.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "local_targets.hpp"
#include "mpiacq/mpi2dd/mpi2dd_graph.hpp"
#include "mpiacq/process/tracer.hpp"
#include "running_target.hpp"
#include "starter/missing_symbols.hpp"

namespace mpiacq {

namespace {

std::optional<mpi2dd::info_block> block_in(mpi2dd::opened_process& process) {
  const target seen = process.as_target();
  const auto info = mpi2dd::find_info(seen);
  if (!info || !*info) return std::nullopt;
  const auto block = mpi2dd::read_info_block(seen, (*info)->address());
  return block ? std::optional{*block} : std::nullopt;
}

/// The flags of a process with the interface; empty for any other.
std::optional<mpi2dd::info_block> block_of(const local_targets& targets, process_id pid) {
  const auto opened = targets.open(targets.host(), pid, {});
  return opened ? block_in(**opened) : std::nullopt;
}

/// The same for a process whose facts are known. No server for debug files is asked: most processes have no interface.
std::optional<mpi2dd::info_block> block_of(const process_facts& process, debug_file_search search) {
  search.debuginfod = false;
  const auto opened = running_target::open(process.pid(), search);
  if (!opened) return std::nullopt;
  const auto block = block_in(**opened);
  return process.is_unchanged() ? block : std::nullopt;
}

/// Worlds that were connected bring their own starters. The job's starter is the one with the same metadirectory; if
/// there is none, the nearest one.
const mpi2dd::visit* starter_in(const mpi2dd::graph& job, const std::string& here) {
  const auto meta = job.visits().front().meta;
  const mpi2dd::visit* best = nullptr;
  for (const mpi2dd::visit& seen : job.visits()) {
    if (seen.state != mpi2dd::visit_state::read || !seen.is_starter() || job.host(seen.process) != here) continue;
    // A walk that begins at a metadirectory belongs to that one.
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

result<std::optional<found_starter>> find_mpi2dd_starter(known_processes& all, const process_pointer& named,
                                                         const debug_file_search& search) {
  const auto block = block_of(*named, search);
  if (!block) return std::nullopt;
  const auto targets = local_targets::around(*named, search);
  const auto itself = [&](std::string how) {
    return std::optional{found_starter{named->pid(), named, std::move(how), interface_kind::mpi2dd}};
  };
  if (block->mpi_flags.has(mpi2dd::mpi_flag::i_am_starter)) return itself({});
  const auto job = TRY(mpi2dd::walk(targets.start(*named), targets.opener(), targets.options()));
  const mpi2dd::visit* starter = starter_in(job, targets.host());
  const auto process = starter == nullptr ? nullptr : all.find(job.pid(starter->process));
  if (!process) {
    return itself(
        fmt::format("{} is {}, and no table of its job on this node names the starter: the job is seen from "
                    "there, and its starter is left alone",
                    with_executable(*named), part_of(job)));
  }
  return std::optional{found_starter{process->pid(), process,
                                     fmt::format("{} is {}: attached to the starter {}, which its job's tables lead to",
                                                 with_executable(*named), part_of(job), with_executable(*process)),
                                     interface_kind::mpi2dd}};
}

std::optional<found_starter> mpi2dd_starter_below(known_processes& all, const process_facts& wrapper,
                                                  const debug_file_search& search) {
  const auto targets = local_targets::around(wrapper, search);
  for (const process_id pid : all.all()) {
    const auto above = all.ancestors_of(pid);
    if (std::find(above.begin(), above.end(), wrapper.pid()) == above.end()) continue;
    const auto block = block_of(targets, pid);
    if (!block || !block->mpi_flags.has(mpi2dd::mpi_flag::i_am_starter)) continue;
    const auto below = all.find(pid);
    return found_starter{pid, below,
                         fmt::format("{} is no starter: attached to {}, which it has started", with_executable(wrapper),
                                     with_executable(*below)),
                         interface_kind::mpi2dd};
  }
  return std::nullopt;
}

error no_mpi2dd(const process_facts& named, const debug_file_search& search) {
  process_memory memory(named.pid());
  page_cache cache(memory);
  auto symbols = process_symbols::open(named.pid(), cache, search);
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

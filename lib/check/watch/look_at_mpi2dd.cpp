// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "watch/look_at_mpi2dd.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "mpiacq/process/process_user.hpp"
#include "mpiacq/process/tracer.hpp"
#include "watch/look_at_starter.hpp"

namespace mpiacq::check {

namespace {

constexpr std::size_t most_ranks = 64;

bool is_whole(const mpi2dd::graph& graph) {
  return std::all_of(graph.visits().begin(), graph.visits().end(),
                     [](const mpi2dd::visit& v) { return v.state == mpi2dd::visit_state::read && !v.failure; });
}

mpi2dd_rank_seen look_at(process_id pid, std::string name, debug_file_search search, user_id user) {
  mpi2dd_rank_seen seen;
  seen.name = std::move(name);
  seen.pid = pid;
  if (const auto why = why_no_rank(pid, user)) {
    seen.alive = why->code != error_code::process_gone;
    seen.problem = why->message;
    return seen;
  }
  search.debuginfod = false;
  process_memory memory(pid);
  page_cache cache(memory);
  auto symbols = process_symbols::open(pid, cache, std::move(search));
  seen.alive = symbols.has_value() || symbols.error().code != error_code::process_gone;
  if (!symbols) {
    seen.problem = symbols.error().message;
    return seen;
  }
  auto info = mpi2dd::read_info(target{memory, nullptr, (*symbols)->abi(), **symbols});
  if (!info) {
    seen.problem = info.error().message;
  } else if (!*info) {
    seen.problem = "MPI2DD_info is not defined";
  } else {
    seen.info = std::move(**info);
  }
  return seen;
}

std::string name_of(const mpi2dd::graph& graph, mpi2dd::process_number p) {
  const auto world = graph.world_of(p);
  return fmt::format("{}:{}", world ? graph.worlds()[index(*world)].id : "?", *graph.rank(p));
}

/// Reads the info blocks of ranks that have aborted since the last look. A rank raises its abort in its own
/// process, where this run has no breakpoint; its state stays, and it tells its launcher before the starter ends it.
void look_for_aborts(const debug_file_search& search, user_id user, mpi2dd_seen& seen) {
  for (mpi2dd_rank_seen& rank : seen.ranks) {
    if (!rank.info || rank.info->block.state == mpi2dd::debug_state::abort) continue;
    auto now = look_at(rank.pid, rank.name, search, user);
    if (now.info && now.info->block.state == mpi2dd::debug_state::abort) rank.info = std::move(now.info);
  }
}

/// A new rank may not have reached its MPI initialisation. A rank without an info block is read at the next look.
void look_at_ranks(const job_graph& job, const debug_file_search& search, user_id user, bool is_first,
                   mpi2dd_seen& seen) {
  const mpi2dd::graph& graph = job.graph;
  const auto is_known = [&seen](process_id pid) {
    return std::any_of(seen.ranks.begin(), seen.ranks.end(),
                       [pid](const mpi2dd_rank_seen& rank) { return rank.pid == pid; });
  };
  for (std::uint32_t i = 0; i < graph.process_count() && seen.ranks.size() < most_ranks; ++i) {
    const mpi2dd::process_number p{i};
    if (!graph.is_rank(p) || !graph.is_identified(p) || graph.host(p) != job.host) continue;
    if (!is_first && is_known(graph.pid(p))) continue;
    auto rank = look_at(graph.pid(p), name_of(graph, p), search, user);
    if (is_first || rank.info) seen.ranks.push_back(std::move(rank));
  }
}

}  // namespace

std::optional<target_address> look_for_mpi2dd(const target& starter, const module* home, mode how, mpi2dd_seen& seen) {
  constexpr std::array names = {mpi2dd::info_symbol, mpi2dd::breakpoint_symbol};
  auto found = starter.symbols.look_up(names, {.loaded_only = true});
  if (found && !found->front()) found = starter.symbols.look_up(names, {.only_in = home});
  if (!found || !(*found)[0]) return std::nullopt;
  // A symbol that is not exported may be in the module of an exported one.
  if (!(*found)[1]) {
    if (auto more = starter.symbols.look_up(names, {.only_in = (*found)[0]->home.get()})) {
      (*found)[1] = std::move((*more)[1]);
    }
  }
  seen.info = as_seen(starter.symbols, *(*found)[0], nullptr);
  if (how == mode::launch) {
    if (auto block = mpi2dd::read_info_block(starter, (*found)[0]->address())) seen.initially = *block;
  }
  if (!(*found)[1]) return std::nullopt;
  seen.breakpoint = as_seen(starter.symbols, *(*found)[1], nullptr);
  return (*found)[1]->address();
}

void look_at_mpi2dd_event(const target& starter, mpi2dd_seen& seen) {
  const auto info = mpi2dd::read_info(starter);
  if (!info || !*info) return;  // the clause on the first bytes reports the fault
  const mpi2dd::process_info& now = **info;
  mpi2dd_event_seen event;
  event.state = now.block.state;
  if (event.state == mpi2dd::debug_state::abort) {
    event.abort_string = now.abort_reason;
    if (!event.abort_string && !now.block.abort_string.is_null()) event.abort_problem = "abort_string cannot be read";
  }
  seen.events.push_back(std::move(event));
}

void look_at_mpi2dd_job(process_id starter, const debug_file_search& search, mpi2dd_seen& seen) {
  look_for_aborts(search, user_of(starter), seen);
  graph_options options;
  options.debug_files = search;
  auto job = look_at_graph(starter, options);
  if (!job) {
    if (!seen.job) seen.job_problem = job.error().message;
    return;
  }
  const bool is_first = seen.job == nullptr;
  if (!is_first && (!is_whole(job->graph) || job->graph.process_count() < seen.job->graph.process_count())) return;
  const bool has_grown = is_first || job->graph.process_count() > seen.job->graph.process_count();
  if (has_grown) seen.job = std::make_shared<const job_graph>(std::move(*job));
  look_at_ranks(*seen.job, search, user_of(starter), is_first, seen);
}

}  // namespace mpiacq::check

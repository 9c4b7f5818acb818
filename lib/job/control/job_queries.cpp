// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the caller can ask of a job. Nothing here stops or changes a process.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_map>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "control/job_state.hpp"
#include "descriptors/unique_fd.hpp"
#include "parts/seen_state.hpp"
#include "proc/proc_text.hpp"
#include "proc/process_folder.hpp"
#include "proc/process_state.hpp"
#include "queue_library.hpp"

namespace mpiacq {

std::string_view name(interface_kind kind) {
  constexpr std::array<std::string_view, 4> names = {"mpir", "mpi2dd", "pmix", "environment"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name(rank_state state) {
  constexpr std::array<std::string_view, 7> names = {"held",   "running",    "stopped", "gone",
                                                     "remote", "other-user", "unknown"};
  return names[static_cast<std::size_t>(state)];
}

bool is_on_this_node(rank_state state) {
  return state == rank_state::held || state == rank_state::running || state == rank_state::stopped;
}

const starter_facts& job::starter() const {
  return state_->facts;
}
const mpir::job_facts& job::facts() const {
  return state_->starter().interface->facts();
}
std::shared_ptr<const process_table> job::processes() const {
  return state_->table.processes();
}
interface_kind job::interface() const {
  return state_->starter().interface->kind();
}
const mpir::symbol_set* job::symbols() const {
  return state_->starter().interface->symbols();
}

std::vector<symbol> job::interface_symbols() const {
  std::vector<symbol> all;
  const auto add = [&](const std::optional<symbol>& one) {
    if (one) all.push_back(*one);
  };
  if (const mpir::symbol_set* found = symbols()) {
    for (const mpir::known_symbol& known : mpir::known_symbols()) {
      add((*found)[known.id]);
      // Some starters spell the name differently.
      if (found->has(known.id)) all.back().name = known.name;
    }
  } else if (process_symbols* searched = state_->starter().program.symbols()) {
    constexpr std::array<std::string_view, 2> names = {mpi2dd::info_symbol, mpi2dd::breakpoint_symbol};
    const auto of_mpi2dd = searched->find_symbols(names);
    if (of_mpi2dd) std::for_each(of_mpi2dd->begin(), of_mpi2dd->end(), add);
  }
  return all;
}

std::optional<std::string> job::missing_symbols() const {
  const followed_process& starter = state_->starter();
  const process_symbols* searched = starter.program.symbols();
  return searched == nullptr ? std::nullopt : starter.interface->missing_symbols(*searched);
}

namespace {

/// Whether the tracing process of this program has stopped a process. It is a child of this program, or of its guard,
/// which is one.
bool is_stopped_by_this_program(process_id pid) {
  constexpr std::size_t longest = 8192;
  const base::unique_fd file{::open(fmt::format("/proc/{}/status", pid.value()).c_str(), O_RDONLY | O_CLOEXEC)};
  const std::string text = file ? read_bounded(file, longest).value_or("") : "";
  auto line = status_line(text, "TracerPid");
  const auto tracer = line ? take_number(*line) : std::nullopt;
  auto above = tracer && *tracer > 0 ? parent_of(process_id{*tracer}) : std::nullopt;
  for (int steps = 0; above && steps < 2; ++steps) {
    if (above->value() == ::getpid()) return true;
    above = parent_of(*above);
  }
  return false;
}

}  // namespace

rank_state job::state::state_of_rank(entry_index entry) const {
  if (!table.is_local(entry)) return rank_state::remote;
  const process_id pid = table.processes()->pid(entry);
  if ((starter().stopped && pid == facts.pid) || ranks->holds(pid)) return rank_state::held;
  if (pid != facts.pid && table.is_other_users(pid)) return rank_state::other_user;
  const run_state now = state_of(pid);
  // A process that was just born is stopped until the tracing process has seen it, and let go at once then.
  if (now == run_state::traced && facts.launched && is_stopped_by_this_program(pid)) return rank_state::running;
  return seen_state(now);
}

std::vector<rank_state> job::rank_states() const {
  std::vector<rank_state> states;
  const auto& table = state_->table.processes();
  if (!table) return states;
  states.reserve(table->size());
  // A table may name one process many times.
  std::unordered_map<process_id, rank_state> known;
  for (const entry_index entry : table->entries()) {
    if (!state_->table.is_local(entry)) {
      states.push_back(rank_state::remote);
      continue;
    }
    const auto [at, is_new] = known.try_emplace(table->pid(entry), rank_state::gone);
    if (is_new) at->second = state_->state_of_rank(entry);
    states.push_back(at->second);
  }
  return states;
}

bool job::is_local(entry_index entry) const {
  return state_->table.is_local(entry);
}

/// All ranks run the same MPI library: the first one that lives on this node is asked.
std::optional<std::string> job::queue_library() const {
  const auto& table = state_->table.processes();
  if (!table || facts().ignore_queues) return std::nullopt;
  for (const entry_index entry : table->entries()) {
    if (is_on_this_node(state_->state_of_rank(entry))) {
      return queue_library_of(table->pid(entry), state_->facts.pid);
    }
  }
  return std::nullopt;
}

}  // namespace mpiacq

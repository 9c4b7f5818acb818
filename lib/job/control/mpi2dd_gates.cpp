// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Which ranks of an MPI2DD job wait at their gates, and that none waits at one which nobody can open (docs/mpi2dd.md,
// "The debugger's flags").
#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/job_state.hpp"
#include "control/mpi2dd_rank_control.hpp"
#include "mpiacq/ranks/rank_set.hpp"
#include "proc/local_host.hpp"

namespace mpiacq {

namespace {

using mpi2dd::mpi_flag;

constexpr std::size_t hosts_named = 4;

std::string names_of(const std::set<std::string>& hosts) {
  std::vector<std::string> named(hosts.begin(), hosts.end());
  const std::size_t more = named.size() - std::min(named.size(), hosts_named);
  named.resize(named.size() - more);
  if (more != 0) named.push_back(fmt::format("{} more", more));
  return fmt::format("{}", fmt::join(named, ", "));
}

}  // namespace

/// It is the launcher's own PARTIAL_ATTACH_OK that counts: a starter's and a root's alike tell their ranks to wait, or
/// do not, by what they have themselves. Of one that cannot be asked it is not known, and an open gate harms nobody.
bool job::state::waits_at_gate(std::string_view host, process_id rank) {
  const tracked_graph::origin from = graph->origin_of(host, rank);
  const auto who = from.spawned ? from.by : std::optional{facts.pid};
  return !who || !graph->flags_of(*who).has(mpi_flag::partial_attach_ok);
}

std::vector<std::uint32_t> job::state::mpi2dd_rank_control::gates(const process_table& table, const mpir::job_facts&) {
  std::vector<std::uint32_t> closed;
  for (std::uint32_t entry = 0; entry < table.size(); ++entry) {
    if (job_.waits_at_gate(table.host_name(entry).value_or(""), table.pid(entry))) closed.push_back(entry);
  }
  return closed;
}

bool job::state::mpi2dd_rank_control::needs_gate(process_id rank) const {
  return job_.graph->is_rank(rank) && job_.waits_at_gate(job_.this_host().name(), rank);
}

/// Who has raised START or SPAWN stands still, and has not told its ranks to wait yet.
void job::state::decide_on_gates(followed_process& starts) {
  launcher = starts.pid;
  gate_refused = false;
  far_ranks far;
  std::set<std::uint32_t> worlds;
  for (std::uint32_t entry = 0; entry < processes->size(); ++entry) {
    // What it spawned before has been let go.
    if (settled_worlds.contains(processes->names().world(entry))) continue;
    const auto host = processes->host_name(entry).value_or("");
    const tracked_graph::origin from = graph->origin_of(host, processes->pid(entry));
    const bool is_its_own = from.spawned ? from.by == starts.pid : starts.pid == facts.pid;
    if (!is_its_own) continue;
    worlds.insert(processes->names().world(entry));
    if (is_local(*processes, entry) || !waits_at_gate(host, processes->pid(entry))) continue;
    far.entries.add(entry);
    far.hosts.insert(host.empty() ? "a host of no known name" : std::string(host));
  }
  worlds.erase(rank_names::no_world);
  settled_worlds.merge(worlds);
  const bool are_opened = far.entries.empty() || options.opens_gates_elsewhere;
  (void)carry_out(starts, starts.interface->being_debugged(starts.program.view(), are_opened));
  if (!are_opened) notice_closed_gates(starts, far);
}

void job::state::notice_closed_gates(const followed_process& starts, const far_ranks& far) {
  const std::string names = processes->names().text(far.entries);
  const std::string where = far.entries.count() == 1 ? fmt::format("rank {} is on another node", names)
                                                     : fmt::format("ranks {} are on other nodes", names);
  notice(
      error{error_code::unsupported,
            fmt::format("{} ({}), where nobody opens gates: process {} is told that it is not debugged, so that it has "
                        "none of its ranks wait in MPI_Init. Should one of them wait all the same, 'mpiacq attach' "
                        "to it on its node lets it go",
                        where, names_of(far.hosts), starts.pid.value())});
}

void job::nobody_opens_gates_elsewhere() {
  state& s = *state_;
  if (!std::exchange(s.options.opens_gates_elsewhere, false) || interface() != interface_kind::mpi2dd) return;
  s.gate_refused = true;
}

void job::state::let_nobody_wait_for_what_is_refused() {
  const auto starts = std::exchange(launcher, std::nullopt);
  if (!std::exchange(gate_refused, false) || !starts) return;
  followed_process* const who = find(*starts);
  if (who == nullptr || !who->stopped || who->program.symbols() == nullptr) return;
  (void)carry_out(*who, who->interface->being_debugged(who->program.view(), false));
}

job::state::told_flags job::state::flags_of_rank(const process_table& table, std::size_t entry) {
  told_flags told;
  told.starters = graph->flags_of(facts.pid);
  const tracked_graph::origin from = graph->origin_of(table.host_name(entry).value_or(""), table.pid(entry));
  if (from.by) told.launchers = graph->flags_of(*from.by);
  if (is_local(table, entry)) told.own = graph->flags_of(table.pid(entry));
  return told;
}

std::vector<rank_facts> job::facts_of_ranks() const {
  std::vector<rank_facts> all;
  const auto table = processes();
  if (!table) return all;
  all.reserve(table->size());
  const bool is_told_by_each = interface() == interface_kind::mpi2dd && state_->graph;
  for (std::size_t entry = 0; entry < table->size(); ++entry) {
    if (!is_told_by_each) {
      all.push_back(
          {facts().acquired_pre_main, facts().force_to_main, facts().partial_attach_ok, facts().ignore_queues});
      continue;
    }
    const auto told = state_->flags_of_rank(*table, entry);
    // A starter's says that to let it go is enough for its own ranks, not for what they spawn.
    const bool is_let_go = !state_->waits_at_gate(table->host_name(entry).value_or(""), table->pid(entry));
    all.push_back({told.has(mpi_flag::acquired_pre_main), told.has(mpi_flag::force_to_main), is_let_go,
                   told.has(mpi_flag::ignore_queue)});
  }
  return all;
}

}  // namespace mpiacq

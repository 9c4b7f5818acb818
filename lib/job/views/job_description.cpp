// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/job/job_description.hpp"

#include "control/job_state.hpp"
#include "known_launchers.hpp"
#include "text/file_name.hpp"

namespace mpiacq {

std::string_view name(launcher_kind kind) {
  switch (kind) {
    case launcher_kind::open_mpi:
      return "open-mpi";
    case launcher_kind::prrte:
      return "prrte";
    case launcher_kind::hydra:
      return "hydra";
    case launcher_kind::slurm:
      return "slurm";
    case launcher_kind::flux:
      return "flux";
    case launcher_kind::pals:
      return "pals";
    case launcher_kind::torchrun:
      return "torchrun";
    case launcher_kind::unknown:
      break;
  }
  return "unknown";
}

launcher_kind launcher_of(std::string_view executable) {
  const launcher_program program = launcher_program_called(base::file_name_of(executable));
  return program.is_starter ? program.launcher->kind : launcher_kind::unknown;
}

entry_locality::entry_locality(const process_table& table) : entry_locality(table, hosts_on_this_node(table)) {}

entry_locality::entry_locality(const process_table& table, const std::vector<bool>& local_hosts) {
  local_.reserve(table.size());
  for (const std::uint32_t host : table.host_numbers()) {
    local_.push_back(host < local_hosts.size() && local_hosts[host]);
  }
}

std::vector<entry_index> job_description::selected(const rank_selection& ranks) const {
  return processes ? processes->names().selected(ranks, processes->size()) : std::vector<entry_index>{};
}

job_description job::description() const {
  job_description now;
  now.starter = starter();
  now.source = interface();
  now.launcher = now.source == interface_kind::environment ? state_->launcher : launcher_of(now.starter.executable);
  now.processes = processes();
  if (now.processes) now.locality = state_->table.locality();
  now.facts = facts();
  now.is_controlled = true;
  return now;
}

}  // namespace mpiacq

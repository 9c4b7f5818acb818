// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "table_hosts.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <unistd.h>

#include "mpiacq/base/host_names.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/process/process_user.hpp"
#include "proc/process_facts.hpp"

namespace mpiacq {

std::vector<bool> local_hosts_of(const process_table& table, const local_host& here) {
  // Several processes of a host are tried, because the first may have ended already.
  constexpr int processes_asked = 4;
  std::vector<int> questions_left(table.string_count(), -1);
  std::vector<bool> local(table.string_count(), false);
  const auto hosts = table.host_numbers();
  const user_id user = table.user().value_or(user_id{::geteuid()});
  for (std::size_t entry = 0; entry < hosts.size(); ++entry) {
    const std::uint32_t host = hosts[entry];
    if (host == process_table::no_string || local[host] || questions_left[host] == 0) continue;
    const std::string_view name = table.string(host);
    if (questions_left[host] < 0) {
      questions_left[host] = processes_asked;
      if (!is_host_name(name)) {
        questions_left[host] = 0;
        continue;
      }
      local[host] = here.is_called(name) || std::ranges::count(table.names_of_this_node(), name) != 0;
      if (local[host]) continue;
    }
    // Pids of other hosts belong to the container's pid namespace.
    if (table.has_other_pids()) continue;
    --questions_left[host];
    // Most processes of a large job are on other nodes, and kill(2) takes a tenth of the time of opening /proc/PID.
    if (::kill(static_cast<pid_t>(table.pid(entry_index{entry}).value()), 0) != 0 && errno == ESRCH) continue;
    const auto process = process_facts::open(table.pid(entry_index{entry}));
    // The environment of another user's process is not trusted.
    if (!process || !process->users() || why_no_rank(process->pid(), *process->users(), user)) continue;
    local[host] = process->variable("SLURMD_NODENAME") == name;
  }
  return local;
}

std::vector<bool> hosts_on_this_node(const process_table& table) {
  return local_hosts_of(table, local_host::of_this_system());
}

}  // namespace mpiacq

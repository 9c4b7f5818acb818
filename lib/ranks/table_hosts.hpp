// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpiacq/job/process_table.hpp"
#include "proc/local_host.hpp"

namespace mpiacq {

/// For each string number of the table: whether it names this host. Only a resource manager knows some names, such as a
/// Slurm node's. Such a name is recognised by the environment of a process that the table lists on that node, if the
/// process belongs to the starter's user.
[[nodiscard]] std::vector<bool> local_hosts_of(const process_table& table, const local_host& here);

}  // namespace mpiacq

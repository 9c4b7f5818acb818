// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpiacq/job/process_table.hpp"
#include "proc/local_host.hpp"

namespace mpiacq {

/// For each string number of the table: whether that host is this one. A name that only a resource manager knows (a
/// Slurm node's) is recognised by the environment of a process that the table puts there, if that has the starter's
/// user.
[[nodiscard]] std::vector<bool> local_hosts_of(const process_table& table, const local_host& here);

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The process table of a job in a container. The starter writes pids of its own pid namespace and the container's host
// name; mpiacq, outside of the container, knows the processes by other numbers.
#pragma once

#include <memory>

#include "mpiacq/job/process_table.hpp"
#include "proc/process_facts.hpp"

namespace mpiacq {

/// The table that a starter of this node published, with the pids and the host names by which this program finds its
/// processes of this node. An entry of which there is no process gets the pid 0. The same table if the starter is in
/// this program's namespaces.
[[nodiscard]] std::shared_ptr<const process_table> seen_from_here(std::shared_ptr<const process_table> published,
                                                                  const process_facts& starter);

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The process table of a job in a container. The starter writes pids of its own pid namespace and the container's host
// name. mpiacq runs outside of the container and knows the same processes by other pids.
#pragma once

#include <memory>

#include "mpiacq/job/process_table.hpp"
#include "proc/process_facts.hpp"

namespace mpiacq {

/// Translates the table that a starter of this node published: the result has the pids and host names that are valid in
/// this program's namespaces. An entry without a process gets pid 0. Returns `published` itself if the starter is in
/// this program's namespaces.
[[nodiscard]] std::shared_ptr<const process_table> seen_from_here(std::shared_ptr<const process_table> published,
                                                                  const process_facts& starter);

}  // namespace mpiacq

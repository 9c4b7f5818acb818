// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Agents as the debugger daemons of the job's PMIx server (PMIx Standard 4.1, 18.4).
#pragma once

#include <string>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/ranks/agent.hpp"

namespace mpiacq::agents {

/// Asks a PMIx server to start an agent on each node of its job (`pmix::daemon_that_starts`). Agents end by themselves,
/// as those of ssh do. `stop`: a descriptor that cancels; -1: none. Errors: not_found (the process is no PMIx server,
/// or runs no job); permission (it belongs to another user); invalid_argument (it runs several jobs); as
/// `pmix::pmix_session`.
[[nodiscard]] result<void> start_by_pmix(process_id server, const std::string& program, const agent_order& order,
                                         int stop);

}  // namespace mpiacq::agents

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "mpiacq/job_ranks.hpp"
#include "node_agents.hpp"

namespace mpiacq {

struct awaited_agents::state {
  std::unique_ptr<agents::node_agents> agents;
  mpir::daemon_request request;
};

}  // namespace mpiacq

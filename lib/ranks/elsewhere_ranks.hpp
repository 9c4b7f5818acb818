// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/job_graph.hpp"
#include "mpiacq/ranks/agents_options.hpp"

namespace mpiacq {

/// A rank on another node, as an agent there has found it.
struct elsewhere_rank {
  std::string host;  ///< as the caller names it
  std::uint32_t world = 0;
  std::uint32_t rank = 0;
  process_id pid;
  std::string executable;  ///< empty if it cannot be read
};

struct elsewhere_ranks {
  std::vector<elsewhere_rank> ranks;
  std::vector<graph_host> hosts;  ///< in the caller's order; `why`: it was not reached, or its answer is not complete
};

/// The ranks on these hosts of the worlds with these keys (environment_world::key). An agent on each host looks for
/// them; it ends before this function returns. The room of the agents implements it.
[[nodiscard]] elsewhere_ranks ranks_by_agents(const std::vector<std::string>& hosts,
                                              const std::vector<std::string>& keys, const agents_options& options);

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Agents as the debugger daemons of the job's PMIx server (PMIx Standard 4.1, 18.4).
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "host/pmix_session.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/ranks/agent.hpp"

namespace mpiacq::agents {

/// Daemons that a PMIx server has started, one on each node of its job. Each is a shell that starts an agent and ends
/// (`pmix::daemon_that_starts`). Agents end by themselves, as those of ssh do. Thread: one at a time.
class pmix_daemons {
 public:
  /// `stop`: a descriptor that cancels; -1: none. Errors: not_found (the process is no PMIx server, or runs no job);
  /// permission (it belongs to another user); invalid_argument (it runs several jobs); as `pmix::pmix_session`.
  [[nodiscard]] static result<pmix_daemons> start(process_id server, const std::string& program,
                                                  const agent_order& order, int stop);

  /// Since when the server has reported that all of them have ended: then each has started its agent, or could not.
  /// Empty if it has not reported that, or if it answers no more.
  [[nodiscard]] std::optional<deadline> ended_since();

 private:
  pmix_daemons(pmix::pmix_session session, std::string nspace)
      : session_(std::move(session)), nspace_(std::move(nspace)) {}

  pmix::pmix_session session_;
  std::string nspace_;
  std::optional<deadline> ended_;
  bool is_over_ = false;
};

}  // namespace mpiacq::agents

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Agents as the tool daemons of the job's own starter (MPIR 1.1, 7.1 and 7.2).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "mpiacq/job/job.hpp"
#include "mpiacq/mpir/mpir_daemons.hpp"
#include "mpiacq/ranks/agent.hpp"

namespace mpiacq::agents {

/// The request for a starter: a shell that executes the agent if its file exists, and discards its output. The daemon
/// must run on every node, because a starter may end its job otherwise (Open MPI 4.1 does, also for a request to a
/// running job), and must print nothing, because starters pass on the output of daemons. The request has as many of the
/// addresses as fit. Errors: as `mpir::encode_server_arguments`.
[[nodiscard]] result<mpir::daemon_request> daemons_for(const std::string& program, agent_order order);

/// A running starter, to which mpiacq attaches until the starter's daemons have arrived.
/// Thread: one at a time.
class starter_daemons {
 public:
  /// Writes the request and resumes the starter. Errors: as `job::attach`; unsupported (the starter cannot launch
  /// daemons, or has no table yet).
  [[nodiscard]] static result<std::unique_ptr<starter_daemons>> ask(process_id starter,
                                                                    const mpir::daemon_request& request);
  /// Handles the starter's events. True while it may still launch daemons.
  [[nodiscard]] bool has_pending();
  /// Detaches from the starter, and restores its variables. Call it when the first daemon has arrived.
  void detach();
  /// The last problem; may be empty.
  [[nodiscard]] const std::string& last_message() const { return last_message_; }

 private:
  explicit starter_daemons(std::unique_ptr<job> starter) : starter_(std::move(starter)) {}
  /// Takes all events that have arrived. True if the starter is stopped and must be resumed.
  [[nodiscard]] bool take_events();
  void note(const result<void>& done);

  std::unique_ptr<job> starter_;  ///< null after the detach or the starter's end
  std::string last_message_;
};

}  // namespace mpiacq::agents

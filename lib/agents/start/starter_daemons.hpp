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

/// What a starter is asked to launch: a shell that becomes the agent where its file is there. A starter may end its job
/// over a daemon that cannot be run on some node (Open MPI 4.1 does, also a job that it has been asked for later), and
/// it passes on what daemons print: so there is one everywhere, and it prints nothing. Of the addresses it has as many
/// as there is room for. Errors: as `mpir::encode_server_arguments`.
[[nodiscard]] result<mpir::daemon_request> daemons_for(const std::string& program, agent_order order);

/// A starter that runs already, attached to until its daemons have come.
/// Thread: one at a time.
class starter_daemons {
 public:
  /// Asks it, and lets it run. Errors: as `job::attach`; unsupported (it can launch none, or has no table yet).
  [[nodiscard]] static result<std::unique_ptr<starter_daemons>> ask(process_id starter,
                                                                    const mpir::daemon_request& request);
  /// Does what there is to do. True while it may still launch them.
  [[nodiscard]] bool may_bring();
  /// They come: nobody needs the starter any more. It is let go, with nothing of ours left in it.
  void let_go();
  /// What went wrong last; may be empty.
  [[nodiscard]] const std::string& last_words() const { return last_words_; }

 private:
  explicit starter_daemons(std::unique_ptr<job> starter) : starter_(std::move(starter)) {}
  /// Takes all that has happened by now. True where the starter is stopped for us.
  [[nodiscard]] bool take_events();
  void note(const result<void>& done);

  std::unique_ptr<job> starter_;  ///< null once it has been let go, or has ended
  std::string last_words_;
};

}  // namespace mpiacq::agents

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "control/process_interface.hpp"
#include "control/traced_program.hpp"

namespace mpiacq {

/// A process that the job follows, with the debugger's half of an interface in it. It is one that may be the starter:
/// what was launched, and its descendants as long as none of them has spawned the job. Or it is a rank or directory of
/// an MPI2DD job: those raise events as the starter does.
struct followed_process {
  followed_process(trap_control& traps, process_id process, debug_file_search search,
                   std::unique_ptr<process_interface> half, std::optional<user_id> user = {})
      : pid(process), program(traps, process, std::move(search), user), interface(std::move(half)) {}

  process_id pid;
  std::string executable;
  traced_program program;
  std::unique_ptr<process_interface> interface;  ///< never null
  bool is_member = false;                        ///< a rank or directory of the job, and not its starter
  bool stopped = false;                          ///< the tracer holds all its threads
  bool stays = false;                            ///< it is wanted held: whatever stops it leaves it stopped
  bool waits = false;                            ///< it stands at an event that the caller has to answer
  bool ended = false;
  bool in_group_stop = false;  ///< a signal has stopped it, until SIGCONT
  bool is_traced = true;       ///< false for the starter of a job that the environment shows: it needs no tracer
  /// Launched: MPIR_being_debugged as it was written, until the table has been reported.
  std::optional<write_bytes> announced;

  [[nodiscard]] bool has_interface() const { return interface->is_there(); }
};

using followed_processes = std::map<process_id, followed_process>;

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "control/process_interface.hpp"
#include "control/traced_program.hpp"

namespace mpiacq {

/// A process with the debugger's half of an interface in it. It may turn out to be the starter: what was launched, and
/// what that has started in turn as long as none of them has spawned the job. Or it is a rank or directory of an
/// MPI2DD job, which raise events as the starter does.
struct followed_process {
  followed_process(tracer& control, process_id process, debug_file_search search,
                   std::unique_ptr<process_interface> half, std::optional<user_id> user = {})
      : pid(process), program(control, process, std::move(search), user), interface(std::move(half)) {}

  process_id pid;
  std::string executable;
  traced_program program;
  std::unique_ptr<process_interface> interface;  ///< never null
  bool is_member = false;                        ///< it is in the job, and not its starter
  bool stopped = false;                          ///< all its threads are held by the tracer
  bool stays = false;                            ///< somebody wants it held: whatever stops it leaves it stopped
  bool waits = false;                            ///< at an event, for the caller's answer
  bool ended = false;
  /// Launched: MPIR_being_debugged as it was written, until the table has been reported.
  std::optional<write_bytes> announced;

  [[nodiscard]] bool has_interface() const { return interface->is_there(); }
};

}  // namespace mpiacq

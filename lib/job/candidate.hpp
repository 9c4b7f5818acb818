// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "mpiacq/mpir.hpp"
#include "traced_program.hpp"

namespace mpiacq {

/// A process that may turn out to be the starter: what was launched, and what that has started in turn as long as
/// none of them has spawned the job.
struct candidate {
  candidate(tracer& control, process_id process, debug_file_search search, mpir::acquisition_options options)
      : pid(process), program(control, process, std::move(search)), acquisition(std::move(options)) {}

  process_id pid;
  std::string executable;
  traced_program program;
  mpir::acquisition acquisition;
  bool stopped = false;  ///< all its threads are held by the tracer
  bool ended = false;
  /// Launched: MPIR_being_debugged as it was written, until the table has been reported.
  std::optional<mpir::write_memory> announced;

  [[nodiscard]] bool has_interface() const {
    return acquisition.symbols() != nullptr && acquisition.symbols()->complete();
  }
};

}  // namespace mpiacq

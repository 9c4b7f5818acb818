// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "mpiacq/job/process_table.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "proc/process_facts.hpp"
#include "running_target.hpp"

namespace mpiacq {

/// What a process offers of MPIR, seen from outside while it runs.
struct starter_sight {
  std::shared_ptr<running_target> target;
  bool has_interface = false;
  std::shared_ptr<const process_table> table;  ///< null where there is none yet
  mpir::job_facts facts;
  std::optional<mpir::symbol_set> symbols;

  /// The sentence about missing symbols; empty if none is missing. It looks for a debug file of the executable.
  [[nodiscard]] std::string lacks() const;
};

/// Nothing is stopped or written. Errors: as `running_target::open`, and those of reading the table.
[[nodiscard]] result<starter_sight> look_at_starter(const process_facts& process, const debug_file_search& search);

}  // namespace mpiacq

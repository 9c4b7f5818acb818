// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/job/job.hpp"
#include "mpiacq/process/core_file.hpp"

namespace mpiacq {

/// How the core file of a starter is read.
struct core_options {
  core_file_options files;        ///< for the core file
  debug_file_search debug_files;  ///< for the symbols of the starter
  table_limits limits;            ///< for the process table
};

/// A job as it was when the core file of its starter was written.
struct core_table {
  std::string path;                                ///< of the core file
  starter_facts starter;                           ///< its pid at that time; `launched` is false
  target_abi abi;                                  ///< of the starter
  int signal = 0;                                  ///< the signal that ended it, as `core_file::signal`
  mpir::symbol_set symbols;                        ///< the symbols of MPIR
  mpir::job_facts facts;                           ///< what the starter announced beside the table
  bool aborting = false;                           ///< MPIR_debug_state was 2 (MPIR 1.1, 9.6)
  std::optional<std::string> abort_reason;         ///< MPIR_debug_abort_string, if `aborting`
  std::shared_ptr<const process_table> processes;  ///< null if the starter had published none; a problem says so
  entry_locality locality;                         ///< of the entries of `processes`
  /// The state of each entry when `read_core` was called. `running` and `stopped` only if a process of this node has
  /// the entry's pid and runs the entry's executable; otherwise `gone` or `remote`.
  std::vector<rank_state> states;
  std::vector<error> problems;  ///< what was missing or broken
  /// As `inspection::missing_symbols`.
  std::optional<std::string> missing_symbols;
};

/// Reads a job from the core file of its starter. Errors: as `core_file::open` and `core_symbols::open`. What is
/// missing or broken in part is a problem of the result.
[[nodiscard]] result<core_table> read_core(const std::string& path, const core_options& options = {});

}  // namespace mpiacq

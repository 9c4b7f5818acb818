// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/job/job.hpp"
#include "mpiacq/process/core_file.hpp"

namespace mpiacq {

/// How a core file is read.
struct core_options {
  core_file_options files;
  debug_file_search debug_files;
  table_limits limits;
};

/// A job as its starter knew it when its core file was made.
struct core_table {
  std::string path;       ///< of the core file
  starter_facts starter;  ///< its pid then; `launched` is false
  target_abi abi;
  int signal = 0;  ///< that ended it, as `core_file::signal`
  mpir::symbol_set symbols;
  mpir::job_facts facts;
  /// MPIR_debug_state was 2 (MPIR 1.1, 9.6), and this is what MPIR_debug_abort_string said.
  bool aborting = false;
  std::optional<std::string> abort_reason;
  std::shared_ptr<const process_table> processes;  ///< null where it had published none; a problem says so
  entry_locality locality;                         ///< of the entries of `processes`
  /// One for each entry of the table, looked at by read_core.
  /// `running` and `stopped` only where the entry's pid is, on this node and now, a process that runs the entry's
  /// executable; else gone, or remote.
  std::vector<rank_state> states;
  std::vector<error> problems;
  /// As `inspection::missing_symbols`.
  std::optional<std::string> missing_symbols;
};

/// Reads a job out of its starter's core file. Errors as `core_file::open` and `core_symbols::open`; what is only
/// missing or broken in part is among the problems.
[[nodiscard]] result<core_table> read_core(const std::string& path, const core_options& options = {});

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "mpiacq/process/process_symbols.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace mpiacq::tool {

/// The destination and form of a command's report, and the places of debug files.
struct report_options {
  bool json = false;
  std::string output;  ///< -o; empty: the command's own stream; "-": standard output
  std::vector<std::string> debug_folders;
};

void add_report_options(CLI::App& app, report_options& options);
/// Only --debug-dir.
void add_debug_folders_option(CLI::App& app, report_options& options);

/// The folders of --debug-dir come before the system's.
[[nodiscard]] debug_file_search search_in(const report_options& options);
/// The same without downloads from debuginfod servers: a download would hold the job for as long as it takes.
[[nodiscard]] debug_file_search search_without_downloads(const report_options& options);

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include "mpiacq/base/error.hpp"
#include "options/watch_options.hpp"
#include "report/whole_file.hpp"
#include "sessions/job_watcher.hpp"

namespace mpiacq::tool {

/// The file of --junit: the watched job as a test case. It agrees with the exit status of the command.
class junit_session {
 public:
  /// Opens the file, so that a wrong name is reported before a job is started. Nothing happens without the option.
  [[nodiscard]] static result<junit_session> begin(const watch_options& options);
  /// Writes the file. `status`: the exit status of the command, or why it has none.
  void end(const watch_options& options, const job_watcher& watcher, const result<int>& status) const;

 private:
  std::optional<whole_file> file_;
  std::chrono::system_clock::time_point began_ = std::chrono::system_clock::now();
};

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a launched program inherits from the tool, although the tracing process makes it. The tool collects it at the
// launch, and the child puts it on before its exec. Everything else (limits, priority, processor affinity, namespaces,
// the control group) is as it was when the tracing process was started.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "kernel/proc_files.hpp"
#include "mpiacq/base/error.hpp"

namespace mpiacq::tracing {

struct launch_surroundings {
  std::optional<std::string> search_path;  ///< PATH
  std::uint64_t blocked_signals = 0;       ///< of the thread that launches: bit N - 1 is signal N
  std::uint64_t ignored_signals = 0;       ///< by the tool's process: nohup's stays ignored
  pid_t process_group = 0;
  std::optional<std::uint64_t> file_mode_mask;  ///< umask
  /// The numbers under which the program inherits descriptors. Beside the message travel the working directory and
  /// then these, in this order.
  std::vector<int> descriptors;
};

/// The tool's side.
struct collected_surroundings {
  launch_surroundings surroundings;
  unique_fd directory;
};
[[nodiscard]] result<collected_surroundings> collect_surroundings();

[[nodiscard]] sigset_t signal_set(std::uint64_t bits);

/// In the child, before its exec: these signals are ignored, and all others have their default action.
void ignore_signals(std::uint64_t bits);

/// In the child, before its exec; `received` are the descriptors as they arrived, without the directory, which must be
/// the working directory already. Moves `keep` out of the way where a descriptor must have its number. False where
/// that does not work; errno says why.
[[nodiscard]] bool put_on(const launch_surroundings& what, std::span<const unique_fd> received,
                          std::span<int* const> keep);

}  // namespace mpiacq::tracing

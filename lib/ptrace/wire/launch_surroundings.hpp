// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The properties that a launched program inherits from the tool, although the tracer server makes it. The tool collects
// them at the launch, and the child applies them before its exec. All others (limits, priority, processor affinity,
// namespaces, the control group) are those of the tracer server at its start.
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
  std::uint64_t blocked_signals = 0;       ///< of the launching thread: bit N - 1 is signal N
  std::uint64_t ignored_signals = 0;       ///< of the tool's process, so that nohup still works
  pid_t process_group = 0;
  std::optional<std::uint64_t> file_mode_mask;  ///< umask
  /// The numbers under which the program inherits descriptors. The working directory and then these descriptors travel
  /// with the message, in this order.
  std::vector<int> descriptors;
};

/// The result of collect_surroundings, on the tool's side.
struct collected_surroundings {
  launch_surroundings surroundings;
  unique_fd directory;
};
[[nodiscard]] result<collected_surroundings> collect_surroundings();

[[nodiscard]] sigset_t signal_set(std::uint64_t bits);

/// Called in the child, before its exec: ignores these signals, and sets the default action for all others.
void ignore_signals(std::uint64_t bits);

/// Called in the child, before its exec. `received` are the descriptors as they arrived, without the directory, which
/// must be the working directory already. Moves the descriptors in `keep` to other numbers if an inherited one needs
/// theirs. False if that fails; errno tells why.
[[nodiscard]] bool put_on(const launch_surroundings& what, std::span<const unique_fd> received,
                          std::span<int* const> keep);

}  // namespace mpiacq::tracing

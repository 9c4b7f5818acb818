// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The command of a debugger daemon of PMIx (PMIx Standard 4.1, 18.4). PRRTE takes the status of a daemon for the status
// of its job, and prints the output of a daemon with the output of the job. So each daemon is a shell that ends with 0,
// whatever the program does.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace mpiacq::pmix {

/// The shell runs the program and waits for its end. Without `forward_output` nothing prints what the program writes.
[[nodiscard]] std::vector<std::string> daemon_that_runs(const std::string& program,
                                                        std::span<const std::string> arguments, bool forward_output);
/// The shell starts the program and ends at once: neither the program nor its end can change the job. The program has
/// no standard streams, a session of its own, and no variable that makes it look like a rank.
[[nodiscard]] std::vector<std::string> daemon_that_starts(const std::string& program,
                                                          std::span<const std::string> arguments);

}  // namespace mpiacq::pmix

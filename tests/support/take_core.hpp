// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "mpiacq/base/ids.hpp"

namespace mpiacq::test {

/// Makes a core file of a running process with gdb's gcore; the process continues. Empty if there is no gcore, or if it
/// fails.
[[nodiscard]] std::optional<std::string> core_by_gcore(process_id pid, const std::string& folder);

/// Why the kernel would write no core file into the working folder of a dying process; empty if it would.
[[nodiscard]] std::string why_no_kernel_core();
/// Removes the limit of the size of a process's core file.
void allow_core(process_id pid);
/// The core file in a folder; empty if there is none.
[[nodiscard]] std::optional<std::string> core_in(const std::string& folder);

}  // namespace mpiacq::test

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "mpiacq/base/ids.hpp"

namespace mpiacq::test {

/// A core file of a running process, which goes on, by gdb's gcore; empty where there is no gcore, or it cannot.
[[nodiscard]] std::optional<std::string> core_by_gcore(process_id pid, const std::string& folder);

/// Why the kernel would not write a core file into the working folder of a process that dies; empty where it would.
[[nodiscard]] std::string why_no_kernel_core();
/// Lets a process dump its core without a limit.
void allow_core(process_id pid);
/// The core file that has appeared in a folder; empty where none has.
[[nodiscard]] std::optional<std::string> core_in(const std::string& folder);

}  // namespace mpiacq::test

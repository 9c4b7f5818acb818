// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "mpiacq/base/error.hpp"

namespace mpiacq::tool {

/// The path of a program from PATH, or of a usual folder without PATH. Empty if there is none. Root's programs come
/// only from folders and files that belong to root and that nobody else can write to.
[[nodiscard]] std::string trusted_program(const std::string& name);

/// Runs a program without input and returns the beginning of its standard output. Errors: not_found (no such program),
/// exec_failed (it cannot be run, or ended with another status than 0; with its first line on standard error),
/// timed_out (it was killed), system.
[[nodiscard]] result<std::string> output_of(std::vector<std::string> words, std::chrono::milliseconds limit);

}  // namespace mpiacq::tool

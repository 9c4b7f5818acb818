// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mpiacq::tool {

/// Parses the words of the command line, runs the command that they name, and returns the exit status. Prints help, the
/// version, and sentences about mistakes.
[[nodiscard]] int run_command_line(int argc, char** argv);

}  // namespace mpiacq::tool

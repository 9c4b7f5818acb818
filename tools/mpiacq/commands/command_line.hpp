// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mpiacq::tool {

/// Parses the words of the command line, runs the command that they name, and gives the exit status. Help, the version
/// and sentences about mistakes are printed here.
[[nodiscard]] int run_command_line(int argc, char** argv);

}  // namespace mpiacq::tool

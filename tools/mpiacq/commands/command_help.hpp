// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class FormatterBase;
}

namespace mpiacq::tool {

struct command;

/// The help of the program: its purpose, an example, and its commands.
[[nodiscard]] std::shared_ptr<CLI::FormatterBase> program_help();
/// The help of a command: its purpose, an example, its operands and options, and details. `of` must outlive it.
[[nodiscard]] std::shared_ptr<CLI::FormatterBase> command_help(const command& of);

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "mpiacq/base/error.hpp"
#include "options/starter_line.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace mpiacq::tool {

/// A command whose options have been added to the command line. The functions use what the parser put into them.
struct declared_command {
  /// Runs the command and returns the exit status. An error ends in `status_tool_failed`.
  std::function<result<int>()> run;
  /// A sentence if the options contradict each other or an operand is missing.
  std::function<std::optional<std::string>()> mistake = [] { return std::nullopt; };
  /// Receives the starter's command line; null if the command starts nothing.
  starter_line* starter = nullptr;
};

/// One command of the program. `all_commands` lists them.
struct command {
  std::string_view name;
  std::string_view purpose;  ///< one sentence, without the full stop
  std::string_view example;  ///< a complete command line
  std::string_view usage;    ///< what follows "mpiacq NAME [OPTIONS]"; several forms on lines of their own
  std::string_view details;  ///< the text after the options in the help, which wraps it
  declared_command (*declare)(CLI::App& app);
  /// The exit status is the starter's: one that is not 0 stays, even if the report cannot be written.
  bool gives_starters_status = false;
};

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "lacking.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mpiacq {

std::optional<std::string> lacking_sentence(const mpir::symbol_set& symbols,
                                            std::span<const std::shared_ptr<const module>> modules,
                                            bool executable_is_stripped) {
  if (symbols.complete() || modules.empty()) return std::nullopt;
  const module& executable = *modules.front();
  const std::string id = build_id_text(executable);
  const std::string build = id.empty() ? "no build id" : "build id " + id;
  const std::size_t libraries = modules.size() - 1;

  std::string sentence =
      fmt::format("{} ({}) does not define {}", executable.path, build, fmt::join(symbols.missing(), ", "));
  if (libraries != 0)
    sentence += fmt::format(", nor does any of its {} {}", libraries, libraries == 1 ? "library" : "libraries");
  if (executable_is_stripped) {
    sentence +=
        "; it is stripped of its symbol table, and no debug file for it was found: install the package with its debug "
        "symbols, name their folder with --debug-dir, or use a starter that was built with them";
  } else {
    sentence += "; it is no MPIR starter: name the program that starts the processes itself";
  }
  return sentence;
}

}  // namespace mpiacq

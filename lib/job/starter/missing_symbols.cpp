// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "starter/missing_symbols.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mpiacq/base/remedies.hpp"

namespace mpiacq {

namespace {

/// Where the names were looked for, and why the search may have missed them.
std::string not_defined(const std::string& names, std::span<const std::shared_ptr<const module>> modules,
                        bool executable_is_stripped, const std::string& what_it_is) {
  const module& executable = *modules.front();
  const std::string id = build_id_text(executable);
  const std::string build = id.empty() ? "no build id" : "build id " + id;
  const std::size_t libraries = modules.size() - 1;

  std::string sentence = fmt::format("{} ({}) does not define {}", executable.path, build, names);
  if (libraries != 0)
    sentence += fmt::format(", nor does any of its {} {}", libraries, libraries == 1 ? "library" : "libraries");
  if (executable_is_stripped) {
    return sentence +
           fmt::format(
               "; it is stripped of its symbol table, and no debug file for it was found: install the package with its "
               "debug symbols, {}, or use a starter that was built with them",
               remedies::name_debug_folder);
  }
  return sentence + "; " + what_it_is;
}

}  // namespace

std::optional<std::string> missing_symbols_sentence(const mpir::symbol_set& symbols,
                                                    std::span<const std::shared_ptr<const module>> modules,
                                                    bool executable_is_stripped) {
  if (symbols.complete() || modules.empty()) return std::nullopt;
  return not_defined(fmt::format("{}", fmt::join(symbols.missing(), ", ")), modules, executable_is_stripped,
                     "it is no MPIR starter: name the program that starts the processes itself");
}

std::string missing_mpi2dd_sentence(std::span<const std::shared_ptr<const module>> modules,
                                    bool executable_is_stripped) {
  if (modules.empty()) return "it has no modules to look for MPI2DD_info in";
  return not_defined("MPI2DD_info and MPI2DD_breakpoint", modules, executable_is_stripped,
                     fmt::format("it has no MPI2DD; for a starter that has MPIR {}", remedies::choose_mpir));
}

}  // namespace mpiacq

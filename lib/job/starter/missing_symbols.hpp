// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "mpiacq/mpir/mpir_acquisition.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq {

/// One sentence for the user about the symbols that a program lacks for the interface: their names, the executable with
/// its build id, how many libraries were searched, and a remedy. Empty if no symbol is missing.
/// `executable_is_stripped`: the executable has no symbol table beside the dynamic one, nor a debug file that has.
[[nodiscard]] std::optional<std::string> missing_symbols_sentence(
    const mpir::symbol_set& symbols, std::span<const std::shared_ptr<const module>> modules,
    bool executable_is_stripped);

/// The same for MPI2DD, which has two symbols. A program without them is no MPI2DD starter.
[[nodiscard]] std::string missing_mpi2dd_sentence(std::span<const std::shared_ptr<const module>> modules,
                                                  bool executable_is_stripped);

}  // namespace mpiacq

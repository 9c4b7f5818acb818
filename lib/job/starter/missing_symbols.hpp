// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "mpiacq/mpir/mpir_acquisition.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq {

/// What the interface still needs from a program, for a person: the missing symbols, the module that ought to have them
/// with its build id, how many were searched, and what to do. Empty where nothing is missing.
/// `executable_is_stripped`: the executable has no symbol table beside the dynamic one, nor a debug file that has.
[[nodiscard]] std::optional<std::string> missing_symbols_sentence(
    const mpir::symbol_set& symbols, std::span<const std::shared_ptr<const module>> modules,
    bool executable_is_stripped);

/// The same for MPI2DD, of which a program has both symbols or is nobody's starter.
[[nodiscard]] std::string missing_mpi2dd_sentence(std::span<const std::shared_ptr<const module>> modules,
                                                  bool executable_is_stripped);

}  // namespace mpiacq

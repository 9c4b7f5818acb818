// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mpiacq::debug_info {

/// The name for a person of a function that a symbol table calls `symbol`: without version and the suffixes of a
/// compiler's clones, and demangled if it is of C++ or a procedure of a Fortran module.
[[nodiscard]] std::string function_of_symbol(std::string_view symbol);

/// Removes the suffixes of compilers for parts and copies of a function: "solve.part.0.cold" is solve.
[[nodiscard]] std::string_view without_clone_marks(std::string_view symbol);

/// The demangled name of C++ (Itanium ABI), with parameters. Empty if the name is not mangled, or might expand beyond
/// the limit.
[[nodiscard]] std::optional<std::string> demangle_cpp(std::string_view mangled);

/// gfortran's `__module_MOD_procedure` as module::procedure. Empty for other names.
[[nodiscard]] std::optional<std::string> demangle_fortran(std::string_view mangled);

}  // namespace mpiacq::debug_info

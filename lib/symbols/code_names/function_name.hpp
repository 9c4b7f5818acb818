// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mpiacq::debug_info {

/// What a person calls a function that a symbol table calls `symbol`: without version and the marks of a compiler's
/// clones, demangled if C++ or a procedure of a Fortran module.
[[nodiscard]] std::string function_of_symbol(std::string_view symbol);

/// Without what compilers add for parts and copies of a function: "solve.part.0.cold" is solve.
[[nodiscard]] std::string_view without_clone_marks(std::string_view symbol);

/// C++ (Itanium ABI), with parameters. Empty where it is no such name, or one that might unfold without measure.
[[nodiscard]] std::optional<std::string> demangle_cpp(std::string_view mangled);

/// gfortran's `__module_MOD_procedure` as module::procedure. Empty where it is none.
[[nodiscard]] std::optional<std::string> demangle_fortran(std::string_view mangled);

}  // namespace mpiacq::debug_info

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The languages of DW_AT_language whose names have a different spelling.
#pragma once

#include <algorithm>
#include <array>

#include <dwarf.h>

namespace mpiacq::debug_info {

// Languages of DWARF 6, which compilers also write into DWARF 5.
inline constexpr int language_cpp_17 = 0x2b;
inline constexpr int language_cpp_20 = 0x2c;
inline constexpr int language_fortran_18 = 0x2d;

[[nodiscard]] inline bool is_cpp(int language) {
  constexpr std::array<int, 6> all = {DW_LANG_C_plus_plus,    DW_LANG_C_plus_plus_03, DW_LANG_C_plus_plus_11,
                                      DW_LANG_C_plus_plus_14, language_cpp_17,        language_cpp_20};
  return std::find(all.begin(), all.end(), language) != all.end();
}

[[nodiscard]] inline bool is_fortran(int language) {
  constexpr std::array<int, 6> all = {DW_LANG_Fortran77, DW_LANG_Fortran90, DW_LANG_Fortran95,
                                      DW_LANG_Fortran03, DW_LANG_Fortran08, language_fortran_18};
  return std::find(all.begin(), all.end(), language) != all.end();
}

/// -1, no language, counts as C: assemblers write such units.
[[nodiscard]] inline bool is_c(int language) {
  return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 || language == DW_LANG_C11 ||
         language == DW_LANG_Mips_Assembler || language == -1;
}

}  // namespace mpiacq::debug_info

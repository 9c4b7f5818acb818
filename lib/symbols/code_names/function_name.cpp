// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "code_names/function_name.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>

#include <cxxabi.h>

namespace mpiacq::debug_info {

namespace {

constexpr std::size_t longest_mangled_name = 8192;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Suffixes of names, some with a number.
bool take_mark(std::string_view& name) {
  static constexpr std::array<std::string_view, 8> marks = {".cold", ".part",     ".constprop", ".isra",
                                                            ".llvm", ".lto_priv", ".clone",     ".localalias"};
  std::string_view rest = name;
  std::size_t digits = 0;
  while (digits < rest.size() && is_digit(rest[rest.size() - 1 - digits])) ++digits;
  const bool has_number = digits != 0 && digits < rest.size() && rest[rest.size() - 1 - digits] == '.';
  if (has_number) rest.remove_suffix(digits + 1);
  for (const std::string_view mark : marks) {
    if (rest.size() > mark.size() && rest.ends_with(mark)) {
      name = rest.substr(0, rest.size() - mark.size());
      return true;
    }
  }
  return false;
}

/// A mangled name refers to its earlier parts (S_, S4_, T_), which may contain such references themselves: a thousand
/// letters can expand beyond all memory, and the C++ library's demangler has no limit. This is a bound on the logarithm
/// of the number of times that a part can occur.
bool may_unfold_without_measure(std::string_view mangled) {
  constexpr unsigned most = 24;
  std::map<std::string_view, unsigned> references;
  for (std::size_t i = 0; i + 1 < mangled.size(); ++i) {
    if (mangled[i] != 'S' && mangled[i] != 'T') continue;
    std::size_t end = i + 1;
    while (end < mangled.size() && (is_digit(mangled[end]) || (mangled[end] >= 'A' && mangled[end] <= 'Z'))) ++end;
    if (end < mangled.size() && mangled[end] == '_') ++references[mangled.substr(i, end - i)];
  }
  unsigned doublings = 0;
  for (const auto& [which, count] : references) {
    unsigned copies = count + 1;
    for (; copies > 1; copies = (copies + 1) / 2) ++doublings;
  }
  return doublings > most;
}

}  // namespace

std::string_view without_clone_marks(std::string_view symbol) {
  while (take_mark(symbol)) continue;
  return symbol;
}

std::optional<std::string> demangle_cpp(std::string_view mangled) {
  if (!mangled.starts_with("_Z") || mangled.size() > longest_mangled_name) return std::nullopt;
  if (may_unfold_without_measure(mangled)) return std::nullopt;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain{
      abi::__cxa_demangle(std::string{mangled}.c_str(), nullptr, nullptr, &status), &std::free};
  if (!plain || status != 0) return std::nullopt;
  return std::string{plain.get()};
}

std::optional<std::string> demangle_fortran(std::string_view mangled) {
  constexpr std::string_view between = "_MOD_";
  if (!mangled.starts_with("__")) return std::nullopt;
  const std::size_t at = mangled.find(between, 3);
  if (at == std::string_view::npos || at + between.size() >= mangled.size()) return std::nullopt;
  return std::string{mangled.substr(2, at - 2)} + "::" + std::string{mangled.substr(at + between.size())};
}

std::string function_of_symbol(std::string_view symbol) {
  const std::string_view plain = without_clone_marks(symbol.substr(0, symbol.find('@', 1)));
  if (auto cpp = demangle_cpp(plain)) return std::move(*cpp);
  if (auto fortran = demangle_fortran(plain)) return std::move(*fortran);
  return std::string{plain};
}

}  // namespace mpiacq::debug_info

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "calls/mpi_function.hpp"

#include <algorithm>

#include "handles/mpi_abi.hpp"

namespace mpiacq {

namespace {

constexpr std::string_view prefix = "mpi_";

constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
constexpr char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}
constexpr bool is_word(char c) {
  return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/// Without parameters, versions, "@plt" and the "P" of the profiling layer.
std::string_view bare(std::string_view function) {
  const auto end = std::find_if_not(function.begin(), function.end(), is_word);
  function = function.substr(0, static_cast<std::size_t>(end - function.begin()));
  if (!function.empty() && lower(function.front()) == 'p') function.remove_prefix(1);
  return function;
}

bool has_prefix(std::string_view function) {
  return function.size() > prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), function.begin(), [](char a, char b) { return a == lower(b); });
}

/// Fortran compilers add underscores. MPI libraries add "_f", "_f08" and similar endings to their Fortran functions.
void remove_fortran_ending(std::string& name) {
  while (name.ends_with('_')) name.pop_back();
  for (const std::string_view ending : {"_f08ts", "_f08", "_fts", "_f"}) {
    if (name.size() <= ending.size() || !name.ends_with(ending)) continue;
    name.resize(name.size() - ending.size());
    return;
  }
}

void find_row(mpi_function& found) {
  found.call = mpi_call_named(found.name);
  if (found.call != nullptr || !found.name.ends_with("_c")) return;
  found.call = mpi_call_named(std::string_view(found.name).substr(0, found.name.size() - 2));
  found.has_wide_counts = found.call != nullptr;
}

}  // namespace

std::optional<mpi_function> mpi_function_named(std::string_view function) {
  const std::string_view bare_name = bare(function);
  if (!has_prefix(bare_name)) return std::nullopt;
  mpi_function found;
  for (const char c : bare_name.substr(prefix.size())) found.name += lower(c);
  const bool has_c_prefix = bare_name.starts_with("MPI_");
  if (!has_c_prefix || found.name.ends_with('_')) remove_fortran_ending(found.name);
  if (found.name.empty()) return std::nullopt;
  found.name.front() = upper(found.name.front());
  if (bare_name.substr(prefix.size()) != found.name || !has_c_prefix) found.language = mpi_language::fortran;
  find_row(found);
  const bool is_c = function.starts_with("MPI_") || function.starts_with("PMPI_");
  if (found.call == nullptr && !is_c) return std::nullopt;  // a program's own mpi_setup()
  return found;
}

std::string called_function_name(std::string_view function, std::string_view module_path) {
  constexpr std::string_view inner = "internal_";
  if (!function.starts_with(inner) || !is_mpi_library(module_path)) return std::string(function);
  std::string named = "MPI_" + std::string(function.substr(inner.size()));
  const auto found = mpi_function_named(named);
  return found && found->call != nullptr ? named : std::string(function);
}

}  // namespace mpiacq

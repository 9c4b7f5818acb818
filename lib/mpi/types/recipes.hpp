// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace mpiacq::carriers {

/// The largest size in bytes of an MPI's version string.
inline constexpr std::size_t max_version = 64;

/// How a library's own data shows the size of one of its types.
enum class size_witness : unsigned char {
  object,        ///< the symbol is an object of the type, and the symbol table has its size
  class_object,  ///< the symbol is Open MPI's opal_class_t of the type, with the size in cls_sizeof
};
struct size_rule {
  std::string_view type;
  std::string_view symbol;
  size_witness by = size_witness::object;
};

/// How to get the types of one MPI.
struct recipe {
  std::string_view name;        ///< the name on the command line
  std::string_view title;       ///< the name in sentences
  std::string_view type_names;  ///< the prefixes of its types' names, separated by blanks
  std::string_view remedy;      ///< how the user can get its types, as the end of a sentence
  bool can_be_made = false;     ///< whether the members below are set

  std::span<const std::string_view> wrappers;         ///< the names of its compiler wrapper
  std::string_view wrapper_says;                      ///< a part of the wrapper's answer to --showme:version
  std::string_view internal_header;                   ///< a header that exists only among the internal ones
  std::span<const std::string_view> include_folders;  ///< suffixes of the wrapper's folders
  std::string_view library;                           ///< the library's file name
  std::string_view version_symbol;                    ///< the symbol of the version string in the library
  std::string_view source;                            ///< C; defines `mpiacq_carrier_version`
  std::span<const size_rule> sizes;
};

[[nodiscard]] std::span<const recipe> all_recipes();
[[nodiscard]] const recipe* find_recipe(std::string_view name);

}  // namespace mpiacq::carriers

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace mpiacq::carriers {

/// The most bytes that an MPI's statement of its own version may have.
inline constexpr std::size_t max_version = 64;

/// How a library's own data gives away the size of one of its types.
enum class size_witness : unsigned char {
  object,        ///< the symbol is an object of the type: its size in the symbol table
  class_object,  ///< the symbol is Open MPI's description of the type (opal_class_t): its member cls_sizeof
};
struct size_rule {
  std::string_view type;
  std::string_view symbol;
  size_witness by = size_witness::object;
};

/// What is known of one MPI.
struct recipe {
  std::string_view name;        ///< on the command line
  std::string_view title;       ///< in sentences
  std::string_view type_names;  ///< beginnings of its types' names, with blanks between them
  std::string_view remedy;      ///< what gives its types, as the end of a sentence
  bool can_be_made = false;     ///< all that follows

  std::span<const std::string_view> wrappers;         ///< names of its compiler wrapper
  std::string_view wrapper_says;                      ///< in the wrapper's answer to --showme:version
  std::string_view internal_header;                   ///< which only the internal headers have
  std::span<const std::string_view> include_folders;  ///< below those that the wrapper names, where that can be
  std::string_view library;                           ///< its file's name
  std::string_view version_symbol;                    ///< a string in the library
  std::string_view source;                            ///< C; defines `mpiacq_carrier_version`
  std::span<const size_rule> sizes;
};

[[nodiscard]] std::span<const recipe> all_recipes();
[[nodiscard]] const recipe* find_recipe(std::string_view name);

}  // namespace mpiacq::carriers

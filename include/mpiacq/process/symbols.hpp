// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The parts of a target (memory, ABI and symbols), with its modules, layouts and types.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/base/memory.hpp"

namespace mpiacq {

/// One ELF file of a target: its executable, or a mapped library.
struct module {
  std::string path;                 ///< by the dynamic linker; for the executable, by /proc; the file may be deleted
  target_address bias;              ///< run-time address = module_offset + bias; 0 for a file that does not run
  bool is_executable = false;       ///< the program, not a library
  std::vector<std::byte> build_id;  ///< NT_GNU_BUILD_ID, empty if there is none
};

/// The build id in lower-case hexadecimal digits, as in folders of debug files; empty if there is none.
[[nodiscard]] std::string build_id_text(const module& m);

/// What a symbol names.
enum class symbol_kind : std::uint8_t { data, function, other };

/// A defined symbol of a module.
struct symbol {
  std::string name;
  std::shared_ptr<const module> home;
  module_offset offset;    ///< the symbol's value in the file
  bool absolute = false;   ///< SHN_ABS: the value is not moved by the load bias
  std::uint64_t size = 0;  ///< bytes, from the symbol table; 0 if the table has none
  symbol_kind kind = symbol_kind::other;

  /// Its address in the running target; in a file, the link-time address.
  [[nodiscard]] target_address address() const {
    return target_address{offset.value()} + (absolute ? 0 : home->bias.value());
  }
};

/// Where a layout or type comes from.
enum class layout_source : std::uint8_t {
  dwarf,       ///< the debug information of the module's file
  debug_file,  ///< a separate debug file, named in `structure_layout::file`
  debuginfod,  ///< a debug file from a debuginfod server
  inferred,    ///< assumed from the target's C ABI, and checked against the data
  fixed,       ///< defined by the document of the interface
};
/// "dwarf", "debug-file", "debuginfod", "inferred", "fixed"
[[nodiscard]] std::string_view name(layout_source source);

/// One member of a structure.
struct structure_member {
  std::string name;
  std::uint64_t offset = 0;  ///< bytes from the beginning of the structure
  std::uint64_t size = 0;    ///< bytes
  bool is_pointer = false;
  bool is_signed = false;  ///< for integers
};

/// One name of an enumeration.
struct enumerator {
  std::string name;
  std::int64_t value = 0;  ///< values beyond the largest int64_t wrap around
};

/// The layout of a C structure in the target. Members are found by name; their order has no meaning.
struct structure_layout {
  std::string name;        ///< the tag or typedef name; empty if there is neither
  std::uint64_t size = 0;  ///< bytes from one array element to the next
  std::vector<structure_member> members;
  layout_source source = layout_source::fixed;
  std::string module_path;                   ///< the module to which the type belongs
  std::string debug_file;                    ///< the file where it was read, if not the module's own
  std::vector<enumerator> enumerators = {};  ///< of an enumeration, in its order; empty for any other type

  /// The member of this name; null if there is none.
  [[nodiscard]] const structure_member* find(std::string_view member_name) const;
};

/// What a type is.
enum class type_kind : std::uint8_t { integer, pointer, array, structure, function, other };

/// The type of a variable by debug information, with the type that it points to or is an array of.
struct variable_type {
  type_kind kind = type_kind::other;
  std::string name;                         ///< the name of the typedef or of the type; empty if there is none
  std::uint64_t size = 0;                   ///< bytes; 0 if it is not known
  bool is_volatile = false;                 ///< of the variable, not of what it points to
  type_kind inner_kind = type_kind::other;  ///< pointers and arrays: one element; `other` for void
  std::string inner_name;
  std::uint64_t inner_size = 0;
  layout_source source = layout_source::dwarf;
  std::string debug_file;  ///< the file where it was read, if not the module's own
};

/// Where a look-up searches. By default everywhere.
struct symbol_scope {
  bool loaded_only = false;         ///< only in tables that the program has loaded: no file is opened
  const module* only_in = nullptr;  ///< only in this module
};

/// Answers where a name is in a target, and which type it has. A live process, a core file, a program's file and a fake
/// in a test implement it.
///
/// Thread: one at a time.
class symbol_source {
 public:
  virtual ~symbol_source() = default;

  /// The definition of each name, in the order of `names`; empty if no module defines the name. Modules are searched in
  /// the order of the dynamic linker, so the answer is the definition that the program itself uses. Tables that are not
  /// loaded (`.symtab`, those of debug files) are read only for names that the loaded tables lack, and only within
  /// `scope`. One pass over a table finds all names, so ask for them together. An error means that a necessary module
  /// cannot be read.
  [[nodiscard]] virtual result<std::vector<std::optional<symbol>>> look_up(std::span<const std::string_view> names,
                                                                           const symbol_scope& scope) = 0;

  /// The structure that the pointer `variable` points to, by the type of the variable in the debug information of its
  /// module, through typedefs, const and volatile, whatever the structure is called (MPIR 1.1, chapter 8, step 11).
  /// Empty if there is no debug information for it. `near` may be a function of the same source file: it leads to the
  /// right unit without a search.
  [[nodiscard]] virtual result<std::optional<structure_layout>> layout_pointed_to_by(const symbol& variable,
                                                                                     const symbol* near = nullptr) = 0;

  /// The declared type of a variable, by the debug information of its module; `near` as above. Empty if there is none.
  /// The checker needs it, acquiring a job does not. A source without types need not override it.
  [[nodiscard]] virtual result<std::optional<variable_type>> type_of(const symbol& variable,
                                                                     const symbol* near = nullptr);

  /// The structure with this tag (`struct NAME`) in any unit of the debug information of the module of `near`, for
  /// structures that no variable leads to. Empty if there is none. A source without types need not override it.
  [[nodiscard]] virtual result<std::optional<structure_layout>> structure_named(std::string_view tag,
                                                                                const symbol& near);

  /// `look_up` everywhere.
  [[nodiscard]] result<std::vector<std::optional<symbol>>> find_symbols(std::span<const std::string_view> names);
  /// `look_up` of one name, everywhere.
  [[nodiscard]] result<std::optional<symbol>> find_symbol(std::string_view name);
};

/// A process as the interfaces see it. It owns nothing: the caller keeps the parts alive. `writer` is null if the
/// target cannot be written (a core file).
struct target {
  memory_reader& memory;
  memory_writer* writer = nullptr;
  const target_abi& abi;
  symbol_source& symbols;
  /// The user of a running process (process_user.hpp); empty if no process runs (a core file, a fake in a test).
  std::optional<user_id> user = {};
};

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
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

/// One ELF object of a target: its executable, or a library that it maps.
struct module {
  std::string path;                 ///< as the dynamic linker knows it; the executable's as /proc says; may be deleted
  target_address bias;              ///< run-time address = module_offset + bias; 0 for a file that is not running
  bool is_executable = false;       ///< the program itself, as against a library
  std::vector<std::byte> build_id;  ///< NT_GNU_BUILD_ID, empty where there is none
};

/// The build id as people and debug-file folders write it: lower-case hexadecimal digits, empty where there is none.
[[nodiscard]] std::string build_id_text(const module& m);

enum class symbol_kind : std::uint8_t { data, function, other };

/// A defined symbol of a module.
struct symbol {
  std::string name;
  std::shared_ptr<const module> home;
  module_offset offset;    ///< the symbol's value in the file
  bool absolute = false;   ///< SHN_ABS: the value is not moved by the load bias
  std::uint64_t size = 0;  ///< bytes, from the symbol table; 0 where that says nothing
  symbol_kind kind = symbol_kind::other;

  /// Where it is in the running target (in a file: the link-time address).
  [[nodiscard]] target_address address() const {
    return target_address{offset.value()} + (absolute ? 0 : home->bias.value());
  }
};

/// Where the knowledge of a structure's layout comes from. Every layout says it.
enum class layout_source : std::uint8_t {
  dwarf,       ///< the module's own debug information
  debug_file,  ///< a separate debug file, named in `structure_layout::file`
  debuginfod,  ///< a debug file that a debuginfod server gave
  inferred,    ///< assumed from the target's C ABI, and checked against the data
  fixed,       ///< laid down by the document itself
};
[[nodiscard]] std::string_view name(
    layout_source source);  ///< "dwarf", "debug-file", "debuginfod", "inferred", "fixed"

struct structure_member {
  std::string name;
  std::uint64_t offset = 0;  ///< bytes from the beginning of the structure
  std::uint64_t size = 0;    ///< bytes
  bool is_pointer = false;
  bool is_signed = false;  ///< for integers
};

/// The layout of a C structure in the target. Members are found by name; their order means nothing.
struct structure_layout {
  std::string name;        ///< the type's tag or typedef name; empty where it has neither
  std::uint64_t size = 0;  ///< bytes from one array element to the next
  std::vector<structure_member> members;
  layout_source source = layout_source::fixed;
  std::string module_path;  ///< the module that it belongs to
  std::string debug_file;   ///< where it was read, if not in the module itself

  [[nodiscard]] const structure_member* find(std::string_view member_name) const;
};

enum class type_kind : std::uint8_t { integer, pointer, array, structure, function, other };

/// What debug information says of a variable's type, and of what it points to or is an array of.
struct variable_type {
  type_kind kind = type_kind::other;
  std::string name;          ///< the type's name, a typedef's before what that stands for; empty where it has none
  std::uint64_t size = 0;    ///< bytes; 0 where nothing says
  bool is_volatile = false;  ///< the variable itself, not what it points to
  type_kind inner_kind = type_kind::other;  ///< pointers and arrays: one element; `other` for void
  std::string inner_name;
  std::uint64_t inner_size = 0;
  layout_source source = layout_source::dwarf;
  std::string debug_file;  ///< where it was read, if not in the module itself
};

/// How far a look-up goes. By default everywhere.
struct symbol_scope {
  bool loaded_only = false;         ///< only tables that the program itself has loaded: no file is opened
  const module* only_in = nullptr;  ///< only this module
};

/// What an interface room asks of a target's symbols and types. A live process, an executable file and a fake in a
/// test are three of them.
///
/// Thread: one at a time.
class symbol_source {
 public:
  virtual ~symbol_source() = default;

  /// The definition of each name, in the order asked for; empty where no module defines it. Modules are searched in
  /// the dynamic linker's order, so the answer is what the program itself binds to; symbol tables that are not loaded
  /// (.symtab, a debug file's) are read only for names that the loaded ones lack, and only as far as `scope` goes.
  /// Names are asked together because one pass over a table finds them all. An error means that a module that had to be
  /// read cannot be.
  [[nodiscard]] virtual result<std::vector<std::optional<symbol>>> look_up(std::span<const std::string_view> names,
                                                                           const symbol_scope& scope) = 0;

  /// The structure that `variable`, a pointer to structures, points to: by the variable's own type in its module's
  /// debug information, through typedefs and const/volatile, whatever the structure is called (MPIR 1.1, chapter 8,
  /// step 11). Empty where there is no debug information for it. `near`, if given, is a function defined in the same
  /// source file: it leads to the right unit without a search.
  [[nodiscard]] virtual result<std::optional<structure_layout>> layout_pointed_to_by(const symbol& variable,
                                                                                     const symbol* near = nullptr) = 0;

  /// The type that a variable is declared with, by its module's debug information; `near` as above. Empty where there
  /// is none for it. Nothing that acquires a job needs it; who judges a starter's declarations does. A source that
  /// knows no types need not define it.
  [[nodiscard]] virtual result<std::optional<variable_type>> type_of(const symbol& variable,
                                                                     const symbol* near = nullptr);

  /// The structure of this tag (`struct NAME`), whichever unit of the debug information of the module of `near`
  /// defines it: for documents whose structures no variable leads to. Empty where there is none. A source that knows no
  /// types need not define it.
  [[nodiscard]] virtual result<std::optional<structure_layout>> structure_named(std::string_view tag,
                                                                                const symbol& near);

  /// Everywhere.
  [[nodiscard]] result<std::vector<std::optional<symbol>>> find_symbols(std::span<const std::string_view> names);
  /// One name, everywhere.
  [[nodiscard]] result<std::optional<symbol>> find_symbol(std::string_view name);
};

/// What the interface rooms see of a process. It owns nothing: whoever made the parts keeps them alive. `writer` is
/// null where the target cannot be written (a core file).
struct target {
  memory_reader& memory;
  memory_writer* writer = nullptr;
  const target_abi& abi;
  symbol_source& symbols;
  /// The user of a running process (process_user.hpp); empty where no process runs (a core file, a fake in a test).
  std::optional<user_id> user = {};
};

}  // namespace mpiacq

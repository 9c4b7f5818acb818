// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Types by name: of a process, a core file, or a file that was made for its types.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/process/core_file.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/type_source.hpp"

namespace mpiacq {

struct type_catalogue_state;

/// The debug information of files, for all processes of a job. A file that many processes map is read once. The
/// catalogue recognises a file by its build id, or without one by device, inode, size and time of change.
///
/// Only the places of the debug information are read, until a caller asks for a type whose name is in the file. Then
/// the catalogue goes through the units until one defines the type, and remembers what it has seen.
///
/// Thread: any, several at a time; questions about one file wait for each other.
class type_catalogue {
 public:
  /// A catalogue that looks for debug files as `search` says.
  explicit type_catalogue(debug_file_search search = {});
  ~type_catalogue();
  type_catalogue(type_catalogue&&) noexcept;
  type_catalogue& operator=(type_catalogue&&) noexcept;

  /// The faults of files so far, each once.
  [[nodiscard]] std::vector<error> problems() const;
  /// The number of files whose debug information was opened.
  [[nodiscard]] std::size_t files_read() const;

 private:
  friend class process_types;
  std::unique_ptr<type_catalogue_state> state_;
};

/// The types of all modules of a process, from the DWARF of each module or of its debug file (build id,
/// .gnu_debuglink), with what that file shares with others (dwz). One module can be asked before the others: the MPI
/// library, whose names an application may use again. Only for that module are debuginfod's servers asked.
///
/// A name is the name of a typedef, a tag, or "struct x" ("union", "enum", "class" likewise), in C++ with its
/// namespaces ("ns::x"). A type of a Fortran module is also found without the module ("m::t" or "t"), in capitals or
/// not. Members of anonymous structures and of base classes are members of their parent. Bit fields have no offset and
/// are left out. A file that cannot be read contributes no types, and is in `type_catalogue::problems`.
///
/// Thread: one at a time; several process_types on several threads can share one catalogue.
class process_types final : public type_source {
 public:
  /// The types of a live process. `symbols` and `catalogue` must outlive this object. `first` is the module to ask
  /// first: one of the modules of `symbols`, or null.
  process_types(process_symbols& symbols, type_catalogue& catalogue, const module* first = nullptr);
  /// The types of one module of a live process alone. No debug information of another module is opened, and no server
  /// is asked. `one` is one of the modules of `symbols`.
  [[nodiscard]] static std::unique_ptr<process_types> of_module(process_symbols& symbols, type_catalogue& catalogue,
                                                                const module& one);
  /// The types of the process in a core file.
  process_types(core_symbols& symbols, type_catalogue& catalogue, const module* first = nullptr);
  /// The types of a program's file.
  process_types(file_symbols& symbols, type_catalogue& catalogue, const module* first = nullptr);
  ~process_types() override;

  /// The type of this name; empty if no module defines it or its file cannot be read. Never an error.
  [[nodiscard]] result<std::optional<structure_layout>> type_named(std::string_view type_name,
                                                                   source_language language) override;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The types in one file of any machine: a program, a library, or a compiler's object (ET_REL; its debug sections are
/// relocated in memory). Type units in separate groups (-fdebug-types-section) are found only in linked files.
///
/// Thread: one at a time.
class type_file final : public type_source {
 public:
  /// Opens a file. Errors: not_found, permission, bad_format (no ELF file, no debug information, or what is broken),
  /// limit.
  [[nodiscard]] static result<std::unique_ptr<type_file>> open(const std::string& path, debug_file_search search = {});
  ~type_file() override;

  /// The path of the file.
  [[nodiscard]] const std::string& path() const;
  /// The ABI of the file. Its types are of use only for processes of the same ABI.
  [[nodiscard]] const target_abi& abi() const;
  /// The faults of the file that did not prevent its use.
  [[nodiscard]] std::span<const error> problems() const;

  [[nodiscard]] result<std::optional<structure_layout>> type_named(std::string_view type_name,
                                                                   source_language language) override;

 private:
  struct state;
  explicit type_file(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

/// Several sources, which are asked one after the other until one knows the type.
///
/// Thread: as its parts.
class type_chain final : public type_source {
 public:
  /// The parts in the order in which they are asked. A null part is skipped.
  explicit type_chain(std::vector<std::unique_ptr<type_source>> parts) : parts_(std::move(parts)) {}
  [[nodiscard]] result<std::optional<structure_layout>> type_named(std::string_view type_name,
                                                                   source_language language) override;

 private:
  std::vector<std::unique_ptr<type_source>> parts_;
};

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Symbols and types of a live process, and of a program's file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq {

/// Where separate debug files are looked for, in addition to the places that `.gnu_debuglink` names relative to the
/// module.
struct debug_file_search {
  /// Folders as in gdb's debug-file-directory. In each of them, `.build-id/xx/yyyy.debug` and the path of the module
  /// are tried.
  std::vector<std::string> folders = {"/usr/lib/debug"};
  /// Whether the servers in DEBUGINFOD_URLS may be asked, as the last resort: for the module whose layout is needed,
  /// and for the executable if none of the symbols is found. A download can take seconds.
  bool debuginfod = true;
};

/// The modules of a live process, from the link map of the dynamic linker, with their symbols and types.
///
/// Names in /proc/PID/maps are not used, because files may have been deleted, replaced or renamed. Loaded symbol tables
/// are read from the memory of the process through `.gnu.hash` or `.hash`, a few bytes for each name. Files are opened
/// only for what memory does not hold (.symtab, DWARF), through /proc/PID/exe and /proc/PID/root.
///
/// Every address and size from the process or from a file is checked before use. Thread: one at a time.
class process_symbols final : public symbol_source {
 public:
  /// Opens the symbols of process `pid`. `memory` must outlive this object. The process need not be stopped, but its
  /// link map may change while it runs. Errors: process_gone, permission, bad_format (the executable is no ELF file of
  /// a known kind).
  [[nodiscard]] static result<std::unique_ptr<process_symbols>> open(process_id pid, memory_reader& memory,
                                                                     debug_file_search search = {});
  ~process_symbols() override;

  /// The ABI of the process.
  [[nodiscard]] const target_abi& abi() const;
  /// The entry point of the program (AT_ENTRY). When it is reached, the libraries that the program is linked with are
  /// mapped and relocated.
  [[nodiscard]] target_address entry_point() const;
  /// The function that the dynamic linker calls whenever the link map has changed (r_brk); empty in a static program,
  /// and before the dynamic linker has run.
  [[nodiscard]] std::optional<target_address> link_map_breakpoint() const;

  /// Reads the link map again. True if a module came or went since the last reading. In the middle of a change
  /// (r_state) the old list stays, and the answer is false. Errors: process_gone, permission.
  [[nodiscard]] result<bool> refresh();
  /// The modules in the order of the dynamic linker, the executable first. A shared_ptr stays valid after its module
  /// has been unloaded.
  [[nodiscard]] std::span<const std::shared_ptr<const module>> modules() const;
  /// Whether the executable has no `.symtab`, neither in its file nor in a debug file. Then only its exported symbols
  /// can be found. Opens the file.
  [[nodiscard]] bool executable_is_stripped() const;
  /// Whether the file of a module has a `.symtab`; true for a former module of this process. Opens the file.
  [[nodiscard]] bool has_symbol_table(const module& home) const;
  /// Faults of the link map and of single modules. The other modules can be used nevertheless.
  [[nodiscard]] std::span<const error> problems() const;

  [[nodiscard]] result<std::vector<std::optional<symbol>>> look_up(std::span<const std::string_view> names,
                                                                   const symbol_scope& scope) override;
  [[nodiscard]] result<std::optional<structure_layout>> layout_pointed_to_by(const symbol& variable,
                                                                             const symbol* near) override;
  [[nodiscard]] result<std::optional<variable_type>> type_of(const symbol& variable, const symbol* near) override;
  [[nodiscard]] result<std::optional<structure_layout>> structure_named(std::string_view tag,
                                                                        const symbol& near) override;

 private:
  friend class process_types;
  struct state;
  explicit process_symbols(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

/// The symbols and types of a program's file and of the libraries that the program would load: DT_NEEDED, searched
/// through DT_RPATH, DT_RUNPATH with $ORIGIN, LD_LIBRARY_PATH, /etc/ld.so.cache and the folders of the system. Load
/// biases are 0, so addresses are link-time addresses. Nothing of the program is executed. Thread: one at a time.
class file_symbols final : public symbol_source {
 public:
  /// Opens a program's file. Errors: not_found, permission, bad_format. The sentence says what the file is instead: a
  /// directory, an empty file, a script and its interpreter, a truncated file, no ELF file, no executable or library.
  [[nodiscard]] static result<std::unique_ptr<file_symbols>> open(const std::string& path,
                                                                  debug_file_search search = {});
  ~file_symbols() override;

  /// The ABI of the program.
  [[nodiscard]] const target_abi& abi() const;
  /// The program and its libraries, the program first.
  [[nodiscard]] std::span<const std::shared_ptr<const module>> modules() const;
  /// As `process_symbols::executable_is_stripped`, for the program's file.
  [[nodiscard]] bool executable_is_stripped() const;
  /// Libraries that were not found or could not be read, with the module that needs them.
  [[nodiscard]] std::span<const error> problems() const;

  [[nodiscard]] result<std::vector<std::optional<symbol>>> look_up(std::span<const std::string_view> names,
                                                                   const symbol_scope& scope) override;
  [[nodiscard]] result<std::optional<structure_layout>> layout_pointed_to_by(const symbol& variable,
                                                                             const symbol* near) override;
  [[nodiscard]] result<std::optional<variable_type>> type_of(const symbol& variable, const symbol* near) override;
  [[nodiscard]] result<std::optional<structure_layout>> structure_named(std::string_view tag,
                                                                        const symbol& near) override;
  /// A reader of the initialised data of the program's file, at link-time addresses. Bytes beyond the file's part of a
  /// segment are 0 (.bss). The reader is valid as long as this object.
  [[nodiscard]] memory_reader& initial_memory();

 private:
  friend class process_types;
  struct state;
  explicit file_symbols(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
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

/// Where separate debug files are looked for, beside what `.gnu_debuglink` says relative to the module.
struct debug_file_search {
  /// Folders as in gdb's debug-file-directory: each is tried with `.build-id/xx/yyyy.debug` and with the module's own
  /// path below it.
  std::vector<std::string> folders = {"/usr/lib/debug"};
  /// Whether the servers in DEBUGINFOD_URLS may be asked, after everything else: for the module whose layout is wanted,
  /// and for the executable where not one of the symbols asked for is found. A download can take seconds.
  bool debuginfod = true;
};

/// The modules of a live process, from the dynamic linker's link map, and their symbols and types.
///
/// Names in /proc/PID/maps are not used: files may have been deleted, replaced or renamed since. Loaded symbol tables
/// are read from the process's memory through `.gnu.hash` or `.hash`, a few bytes for each name; files are opened only
/// for what memory does not hold (.symtab, DWARF), through /proc/PID/exe and /proc/PID/root.
///
/// Thread: one at a time. Every address and size out of the process or a file is checked before use.
class process_symbols final : public symbol_source {
 public:
  /// Looks at process `pid` through `memory`, which must outlive this. The process need not be stopped, but the link
  /// map is only sure not to change under our hands while it is. Errors: process_gone, permission, bad_format (the
  /// executable is no ELF file of a kind we know).
  [[nodiscard]] static result<std::unique_ptr<process_symbols>> open(process_id pid, memory_reader& memory,
                                                                     debug_file_search search = {});
  ~process_symbols() override;

  [[nodiscard]] const target_abi& abi() const;
  /// Where the program's own code begins (AT_ENTRY): by then the libraries it was linked with are mapped and relocated.
  [[nodiscard]] target_address entry_point() const;
  /// A function that the dynamic linker calls whenever the link map has changed (r_brk); empty in a static program, and
  /// before the dynamic linker has run.
  [[nodiscard]] std::optional<target_address> link_map_breakpoint() const;

  /// Reads the link map again. True where a module came or went since the last time. While the dynamic linker is in the
  /// middle of a change (r_state) the old list stays and the answer is false.
  [[nodiscard]] result<bool> refresh();
  /// In the dynamic linker's order, the executable first. A shared_ptr stays good when the module has been unloaded.
  [[nodiscard]] std::span<const std::shared_ptr<const module>> modules() const;
  /// Whether the executable has neither a symbol table beside the dynamic one nor a debug file with one: what it does
  /// not export cannot be found then. Opens the file.
  [[nodiscard]] bool executable_is_stripped() const;
  /// Whether a module's own file has a symbol table beside the dynamic one; true for one that is no module of this
  /// process any more. Opens the file.
  [[nodiscard]] bool has_symbol_table(const module& home) const;
  /// What was wrong with the link map or with single modules: nothing there stops the others from being used.
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

/// The symbols and types of a program that does not run: its file, and the libraries it would load (DT_NEEDED, searched
/// through DT_RPATH, DT_RUNPATH with $ORIGIN, LD_LIBRARY_PATH, /etc/ld.so.cache and the system's folders). Load biases
/// are 0: addresses are link-time addresses. Nothing of the program is executed.
class file_symbols final : public symbol_source {
 public:
  /// Errors, each a sentence that says what the file is instead: not_found, permission, bad_format (a directory, empty,
  /// a script with its interpreter, truncated, not ELF, no executable or library).
  [[nodiscard]] static result<std::unique_ptr<file_symbols>> open(std::string path, debug_file_search search = {});
  ~file_symbols() override;

  [[nodiscard]] const target_abi& abi() const;
  [[nodiscard]] std::span<const std::shared_ptr<const module>> modules() const;
  /// As `process_symbols::executable_is_stripped`, of the main file.
  [[nodiscard]] bool executable_is_stripped() const;
  /// Libraries that were not found, or could not be read, with the module that asks for them.
  [[nodiscard]] std::span<const error> problems() const;

  [[nodiscard]] result<std::vector<std::optional<symbol>>> look_up(std::span<const std::string_view> names,
                                                                   const symbol_scope& scope) override;
  [[nodiscard]] result<std::optional<structure_layout>> layout_pointed_to_by(const symbol& variable,
                                                                             const symbol* near) override;
  [[nodiscard]] result<std::optional<variable_type>> type_of(const symbol& variable, const symbol* near) override;
  [[nodiscard]] result<std::optional<structure_layout>> structure_named(std::string_view tag,
                                                                        const symbol& near) override;
  /// Reads the program's initialised data, at link-time addresses of its main file: bytes past the file's part of a
  /// segment read as 0 (.bss). Lives as long as this object.
  [[nodiscard]] memory_reader& initial_memory();

 private:
  friend class process_types;
  struct state;
  explicit file_symbols(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The memory, symbols and types of a process, from its core file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq {

/// Where to look for the files that the process had mapped, if they are not at their paths on this machine.
struct core_file_options {
  /// The path of the program's file. If it is set, no other place is searched for the program.
  std::string executable;
  /// A folder that stands for the root of the machine where the core was made. A file is looked for in it by its whole
  /// path, then by its name alone, and after that at its path on this machine.
  std::string sysroot;
};

/// The memory of a process in a core file: ELF (ET_CORE) of Linux, of either width and byte order, as written by the
/// kernel, gcore or QEMU.
///
/// Memory that was not dumped (mostly code and constants) is read from the mapped file (NT_FILE) if it is still the
/// same file. The build id decides, or, without a build id, the program headers compared with the first page in the
/// core. Data that the process could have written is never taken from a file. All other memory is unreadable.
///
/// Every size and offset from the core is checked before use; a hostile core costs at most some tens of megabytes. A
/// mapped file is opened when the first read needs it. Thread: one at a time.
class core_file final : public memory_reader {
 public:
  /// Opens a core file. Errors: not_found, permission, bad_format (the sentence says what the file is instead, or which
  /// part of a core it lacks), limit.
  [[nodiscard]] static result<std::unique_ptr<core_file>> open(const std::string& path, core_file_options options = {});
  ~core_file() override;

  /// The path of the core file.
  [[nodiscard]] const std::string& path() const;
  /// The ABI of the process.
  [[nodiscard]] const target_abi& abi() const;
  /// The pid on the node of the process (NT_PRPSINFO, else the first NT_PRSTATUS); -1 if the core has neither note.
  [[nodiscard]] process_id pid() const;
  /// The path of the program as the kernel had it mapped (NT_FILE), else as it was started (AT_EXECFN), else its short
  /// name (NT_PRPSINFO, at most 15 bytes); empty if the core has none of them.
  [[nodiscard]] const std::string& executable() const;
  /// The signal that ended the process, from the first NT_PRSTATUS; 0 if none did. gcore writes the last signal that
  /// its debugger saw.
  [[nodiscard]] int signal() const;

  /// Reads memory as `memory_reader::read_ranges`. Errors: system (the core file cannot be read).
  [[nodiscard]] result<void> read_ranges(std::span<memory_range> ranges) override;

  /// Faults of the core as a whole (such as missing parts at its end), and files that were needed and not used, with
  /// the reason. The rest of the core can be used nevertheless.
  [[nodiscard]] std::span<const error> problems() const;

 private:
  friend class core_symbols;
  struct state;
  explicit core_file(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

/// The symbols and types of the process in a core file. The modules come from the dynamic linker's link map in the
/// core. If the core has the tables of the dynamic symbols, no file is needed for them; a core of the kernel mostly
/// lacks them, and then the file of the library is read. A file that is not the mapped one is not used, and a problem
/// says so.
///
/// Thread: one at a time.
class core_symbols final : public symbol_source {
 public:
  /// Opens the symbols of a core. `core` must outlive this object. Errors: bad_format (there is no auxiliary vector, or
  /// the program cannot be recognised), system.
  [[nodiscard]] static result<std::unique_ptr<core_symbols>> open(core_file& core, debug_file_search search = {});
  ~core_symbols() override;

  /// The ABI of the process.
  [[nodiscard]] const target_abi& abi() const;
  /// The entry point of the program (AT_ENTRY).
  [[nodiscard]] target_address entry_point() const;
  /// The modules in the order of the dynamic linker, the executable first.
  [[nodiscard]] std::span<const std::shared_ptr<const module>> modules() const;
  /// As `process_symbols::executable_is_stripped`; also true if the file of the executable is not available.
  [[nodiscard]] bool executable_is_stripped() const;
  /// Faults of the link map and of single modules.
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
  explicit core_symbols(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq

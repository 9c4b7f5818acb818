// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
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

/// Where the files are that the process of a core file had mapped, if not where it had them.
struct core_file_options {
  /// The program's file: no other place is looked at for it then.
  std::string executable;
  /// A folder that stands for the root of the machine where the core was made. A file is looked for in it by its whole
  /// path, then by its name alone, and after that where this machine has it.
  std::string sysroot;
};

/// The memory of a process that has ended, out of its core file: ELF (ET_CORE), of Linux, of either width and byte
/// order, as the kernel, gcore or QEMU write it.
///
/// What was not dumped (code and constants mostly) is read from the file that was mapped there (NT_FILE), if that is
/// still the same file: by its build id, or where there is none, by its program headers, held against the first page
/// that is in the core. Data that the process could have written is never taken from a file. Everything else is
/// unreadable; nothing is made up.
///
/// Thread: one at a time. Every size and offset out of the core is checked before use; a hostile core costs no more
/// than some tens of megabytes. A file that is mapped is opened when the first read needs it.
class core_file final : public memory_reader {
 public:
  /// Errors: not_found, permission, bad_format (what it is instead, or which part of a core it lacks), limit.
  [[nodiscard]] static result<std::unique_ptr<core_file>> open(std::string path, core_file_options options = {});
  ~core_file() override;

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] const target_abi& abi() const;
  /// The process's number on its own node (NT_PRPSINFO, else the first NT_PRSTATUS); -1 where the core does not say.
  [[nodiscard]] process_id pid() const;
  /// The path of its program as the kernel had it mapped (NT_FILE), else as it was started (AT_EXECFN), else its short
  /// name (NT_PRPSINFO, at most 15 bytes); empty where none of them is there.
  [[nodiscard]] const std::string& executable() const;
  /// The signal that ended it, in the first NT_PRSTATUS; 0 where none did. gcore writes what its debugger saw last.
  [[nodiscard]] int signal() const;

  /// Errors: system (the core itself cannot be read).
  [[nodiscard]] result<void> read_ranges(std::span<memory_range> ranges) override;

  /// What is wrong with the core as a whole (it is cut short), and which files were wanted and not used, with the
  /// reason. Nothing there stops the rest from being used.
  [[nodiscard]] std::span<const error> problems() const;

 private:
  friend class core_symbols;
  struct state;
  explicit core_file(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

/// The symbols and types of the process of a core file: its modules by the dynamic linker's link map in the core's
/// memory, each then as a live process's. Dynamic symbols take no file where the core has their tables; a core of the
/// kernel mostly has not, and then it takes the library's own file. The same rules hold as for memory: a file that is
/// not the one that was mapped is not used, and a problem says so.
///
/// Thread: one at a time.
class core_symbols final : public symbol_source {
 public:
  /// `core` must outlive this. Errors: bad_format (no auxiliary vector; its program cannot be recognised), system.
  [[nodiscard]] static result<std::unique_ptr<core_symbols>> open(core_file& core, debug_file_search search = {});
  ~core_symbols() override;

  [[nodiscard]] const target_abi& abi() const;
  /// AT_ENTRY.
  [[nodiscard]] target_address entry_point() const;
  /// In the dynamic linker's order, the executable first.
  [[nodiscard]] std::span<const std::shared_ptr<const module>> modules() const;
  /// As `process_symbols::executable_is_stripped`; true also where the executable's file is not at hand.
  [[nodiscard]] bool executable_is_stripped() const;
  /// What was wrong with the link map or with single modules.
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

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Types by name: of a process, a core file, or a file that is there for its types.
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

/// The debug information of files, for all processes of a job. A file that many of them map is read once: it is known
/// by its build id, or where it has none, by device, inode, size and time of change.
///
/// Of a file nothing is read but where its debug information is, until a type is asked for whose name stands in it;
/// then units are gone through until one defines it, and what was seen on the way is remembered.
///
/// Thread: any, several at a time; questions about one file wait for each other.
class type_catalogue {
 public:
  explicit type_catalogue(debug_file_search search = {});
  ~type_catalogue();
  type_catalogue(type_catalogue&&) noexcept;
  type_catalogue& operator=(type_catalogue&&) noexcept;

  /// What was wrong with files so far, each once.
  [[nodiscard]] std::vector<error> problems() const;
  /// Files whose debug information was opened.
  [[nodiscard]] std::size_t files_read() const;

  struct state;

 private:
  friend class process_types;
  std::unique_ptr<state> state_;
};

/// The types of all modules of a process, as `type_source` has them: by the DWARF of each module itself, else of its
/// debug file (build id, .gnu_debuglink), with what that shares with others (dwz). One module can be put before the
/// others: the MPI library, whose names an application may have used again. That one alone is asked from debuginfod's
/// servers.
///
/// A name is a typedef's, a tag, or "struct x" ("union", "enum", "class" likewise), in C++ with its namespaces
/// ("ns::x"); a type of a Fortran module also without the module ("m::t" or "t"), in capitals or not. Members of
/// anonymous structures and of base classes are members of their parent; bit fields have no offset and are left out.
/// A file that cannot be read is as one that knows nothing, and stands in `type_catalogue::problems`.
///
/// Thread: one at a time; several process_types can share one catalogue, also on several threads.
class process_types final : public type_source {
 public:
  /// `symbols` and `catalogue` must outlive this. `first` is one of the modules of `symbols`, or null.
  process_types(process_symbols& symbols, type_catalogue& catalogue, const module* first = nullptr);
  process_types(core_symbols& symbols, type_catalogue& catalogue, const module* first = nullptr);
  process_types(file_symbols& symbols, type_catalogue& catalogue, const module* first = nullptr);
  ~process_types() override;

  /// There is no failure: what cannot be read is not known.
  [[nodiscard]] result<std::optional<structure_layout>> type_named(std::string_view type_name,
                                                                   source_language language) override;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The types in one file, of any machine: a program, a library, or an object as a compiler leaves it (ET_REL; its debug
/// sections are relocated in memory). Type units in groups of their own (-fdebug-types-section) are found in linked
/// files only.
///
/// Thread: one at a time.
class type_file final : public type_source {
 public:
  /// Errors: not_found, permission, bad_format (not ELF; without debug information; what is broken), limit.
  [[nodiscard]] static result<std::unique_ptr<type_file>> open(const std::string& path, debug_file_search search = {});
  ~type_file() override;

  [[nodiscard]] const std::string& path() const;
  /// Types of another ABI than the process's are of no use for it.
  [[nodiscard]] const target_abi& abi() const;
  [[nodiscard]] std::span<const error> problems() const;

  [[nodiscard]] result<std::optional<structure_layout>> type_named(std::string_view type_name,
                                                                   source_language language) override;

 private:
  struct state;
  explicit type_file(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

/// Several sources, asked one after the other; each null one is passed over.
///
/// Thread: as its parts.
class type_chain final : public type_source {
 public:
  explicit type_chain(std::vector<std::unique_ptr<type_source>> parts) : parts_(std::move(parts)) {}
  [[nodiscard]] result<std::optional<structure_layout>> type_named(std::string_view type_name,
                                                                   source_language language) override;

 private:
  std::vector<std::unique_ptr<type_source>> parts_;
};

}  // namespace mpiacq

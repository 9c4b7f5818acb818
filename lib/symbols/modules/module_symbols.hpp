// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "debug_files/debug_files.hpp"
#include "elf/dynamic_symbols.hpp"
#include "elf/elf_image.hpp"
#include "modules/loaded_headers.hpp"
#include "modules/target_files.hpp"
#include "mpiacq/process/process_symbols.hpp"

namespace mpiacq::elf {

/// One module with all its sources: its loaded tables in `memory`, its file, its debug file. Each is opened when it is
/// first needed. Each search is made once.
class module_symbols {
 public:
  struct parts {
    std::shared_ptr<const module> facts;
    target_abi abi;
    memory_reader* memory = nullptr;        ///< the memory where it is loaded; outlives this object
    std::optional<target_address> dynamic;  ///< its dynamic section there
    /// The headers of its file in memory; empty if the file is open from the beginning.
    loaded_headers headers{};
    /// The possible places of its file; the first place with the mapped file is used. Empty: it has no file (the vDSO).
    std::vector<file_place> places{};
    /// One more place, which is tried if none of `places` has the right file.
    std::function<std::optional<file_place>()> last_place{};
    std::vector<std::string> roots;   ///< see debug_file_wanted
    std::shared_ptr<image> opened{};  ///< its file, if it is open already
  };
  /// The parts of a file that no process maps, for the search for its debug files. No memory is read.
  [[nodiscard]] static parts parts_of_file(std::shared_ptr<image> file, const std::string& path,
                                           std::vector<std::string> roots);
  explicit module_symbols(parts p) : parts_(std::move(p)) {}

  [[nodiscard]] const std::shared_ptr<const module>& facts() const { return parts_.facts; }
  [[nodiscard]] const target_abi& abi() const { return parts_.abi; }
  [[nodiscard]] std::span<const std::string> roots() const { return parts_.roots; }

  using definitions = std::vector<std::optional<definition>>;

  /// Looks names up in the loaded hash tables. Faults of the tables go to `problems`, once. Errors: only errors that
  /// concern the whole target.
  [[nodiscard]] result<definitions> find_loaded(std::span<const std::string_view> names, std::vector<error>& problems);
  /// Looks names up in the `.symtab` of its own file.
  [[nodiscard]] definitions find_in_file(std::span<const std::string_view> names, std::vector<error>& problems);
  /// Looks names up in the `.symtab` of its debug file.
  [[nodiscard]] definitions find_in_debug_file(std::span<const std::string_view> names, const debug_file_search& search,
                                               std::vector<error>& problems);
  /// Looks names up in the `.symtab` of the debug file from a debuginfod server.
  [[nodiscard]] definitions find_in_served_file(std::span<const std::string_view> names,
                                                const debug_file_search& search, std::vector<error>& problems);
  /// Whether neither its own file nor a debug file on this machine has a `.symtab`.
  [[nodiscard]] bool is_stripped(const debug_file_search& search, std::vector<error>& problems);
  /// Whether its own file has a `.symtab`.
  [[nodiscard]] bool has_symbol_table(std::vector<error>& problems);
  /// Determines what later searches need of its file, so that they need not open the file again.
  void note_what_its_file_has(std::vector<error>& problems);

  /// Its own file, or null.
  [[nodiscard]] image* file(std::vector<error>& problems);
  /// Its own file, shared with the caller.
  [[nodiscard]] std::shared_ptr<image> shared_file(std::vector<error>& problems) {
    static_cast<void>(file(problems));
    return parts_.opened;
  }
  /// Closes the files that can be opened again. The results of earlier searches are kept.
  void close_files();
  /// Its separate debug file on this machine, or null.
  [[nodiscard]] image* debug_file(const debug_file_search& search, std::vector<error>& problems);
  /// The debug file from a debuginfod server, or null.
  [[nodiscard]] image* served_debug_file(const debug_file_search& search, std::vector<error>& problems);

 private:
  using remembered = std::unordered_map<std::string, std::optional<definition>>;
  using opening = std::function<image*()>;
  [[nodiscard]] definitions find_in(const opening& open, remembered& cache, std::span<const std::string_view> names,
                                    std::vector<error>& problems);
  [[nodiscard]] std::shared_ptr<image> open_right_file(const file_place& place, std::vector<error>& problems);
  [[nodiscard]] error replaced(const file_place& place, image& found) const;
  [[nodiscard]] std::vector<std::byte> known_build_id(std::vector<error>& problems);
  [[nodiscard]] const debug_info::debug_file_wanted& wanted_debug_file(std::vector<error>& problems);

  parts parts_;
  bool loaded_read_ = false;
  std::optional<dynamic_symbols> loaded_;
  bool file_tried_ = false;
  bool file_reported_ = false;  ///< the faults of its file are among the problems
  std::optional<bool> has_symbol_table_;
  std::optional<error> unchecked_;
  std::optional<debug_info::debug_file_wanted> wanted_;
  bool debug_file_tried_ = false;
  bool served_tried_ = false;
  std::optional<image> debug_file_;
  std::optional<image> served_;
  remembered in_file_;
  remembered in_debug_file_;
  remembered in_served_;
};

/// Whether a look-up leaves the files that it has opened open for the next look-up.
enum class after_look_up : unsigned char { keep_files, close_files };

/// `symbol_source::look_up` over modules in the dynamic linker's order.
[[nodiscard]] result<std::vector<std::optional<symbol>>> find_in_modules(
    std::span<const std::unique_ptr<module_symbols>> modules, std::span<const std::string_view> names,
    const symbol_scope& scope, const debug_file_search& search, std::vector<error>& problems,
    after_look_up then = after_look_up::keep_files);

/// `symbol_source::layout_pointed_to_by` for a variable of one of these modules.
[[nodiscard]] result<std::optional<structure_layout>> find_layout(
    std::span<const std::unique_ptr<module_symbols>> modules, const symbol& variable, const symbol* near,
    const debug_file_search& search, std::vector<error>& problems);

/// `symbol_source::structure_named` in the module of `near`, one of these.
[[nodiscard]] result<std::optional<structure_layout>> find_structure(
    std::span<const std::unique_ptr<module_symbols>> modules, std::string_view tag, const symbol& near,
    const debug_file_search& search, std::vector<error>& problems);

/// `symbol_source::type_of` for a variable of one of these modules.
[[nodiscard]] result<std::optional<variable_type>> find_type(std::span<const std::unique_ptr<module_symbols>> modules,
                                                             const symbol& variable, const symbol* near,
                                                             const debug_file_search& search,
                                                             std::vector<error>& problems);

}  // namespace mpiacq::elf

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "code_names/function_symbols.hpp"
#include "dwarf/dwarf_code.hpp"
#include "modules/module_symbols.hpp"
#include "mpiacq/process/code_catalogue.hpp"

namespace mpiacq::elf {

/// The names of one file's code, by its DWARF and its symbol tables; the first query that needs one of them opens it.
///
/// Thread: `lock` is held around everything that is not constant, because libdw is not thread-safe.
class code_names {
 public:
  /// `path` is the module's path as a person knows it; `roots` as in debug_file_wanted.
  code_names(std::shared_ptr<image> file, std::string path, std::vector<std::string> roots);

  [[nodiscard]] const std::string& path() const { return path_; }
  /// The link-time address of a byte of the file that is mapped as code; empty if no segment contains it.
  [[nodiscard]] std::optional<std::uint64_t> link_address(std::uint64_t file_offset) const;

  /// The functions at a link-time address, innermost first, at least one. If no source names the last function, its
  /// name is empty. Faults of the file go to `problems`.
  [[nodiscard]] std::vector<code_place> describe(std::uint64_t address, const debug_file_search& search,
                                                 std::vector<error>& problems);

  /// The description of the call that returns to a link-time address, by DWARF; empty if there is none. Faults of the
  /// file go to `problems`.
  [[nodiscard]] std::optional<call_description> call_before(std::uint64_t return_address,
                                                            const debug_file_search& search,
                                                            std::vector<error>& problems);

  /// Where the parameters of the function around a link-time address are, by DWARF; empty if that is not described.
  /// Faults of the file go to `problems`.
  [[nodiscard]] std::optional<parameter_places> parameters_around(std::uint64_t address,
                                                                  const debug_file_search& search,
                                                                  std::vector<error>& problems);

  /// An instruction, and whether its address is a return address.
  struct question {
    std::uint64_t address = 0;
    bool is_return_address = false;
    friend bool operator==(const question&, const question&) = default;
  };
  struct hash_of_question {
    std::size_t operator()(const question& q) const noexcept {
      return std::hash<std::uint64_t>{}(q.address * 2 + (q.is_return_address ? 1 : 0));
    }
  };

  std::mutex lock;
  std::unordered_map<question, std::shared_ptr<const code_places>, hash_of_question> answers;

 private:
  /// What DWARF answers to a question to its reader; empty: nothing, or an error, which goes to `problems`.
  template <class Ask>
  [[nodiscard]] auto asked(const debug_file_search& search, std::vector<error>& problems,
                           debug_info::with_locations locations, Ask ask);
  /// The DWARF of one file.
  struct dwarf {
    debug_info::dwarf_data data;
    debug_info::code_reader reader;
    explicit dwarf(debug_info::dwarf_data opened) : data(std::move(opened)), reader(data) {}
  };

  /// Adds a fault of the file's entries, the first one only.
  void note_fault(const error& fault, std::vector<error>& problems);
  [[nodiscard]] dwarf* open_dwarf(const debug_file_search& search, std::vector<error>& problems,
                                  debug_info::with_locations locations = debug_info::with_locations::no);
  [[nodiscard]] std::unique_ptr<dwarf> dwarf_in(image* file, const debug_file_search& search,
                                                debug_info::with_locations locations,
                                                std::vector<error>& problems) const;
  [[nodiscard]] const function_symbols& symbols(const debug_file_search& search, std::vector<error>& problems);
  void add_packed_symbols(std::vector<error>& problems);
  [[nodiscard]] std::string name_by_symbols(std::uint64_t address, const debug_file_search& search,
                                            std::vector<error>& problems);

  std::string path_;
  std::shared_ptr<image> file_;
  std::vector<segment> code_;
  module_symbols files_;  ///< finds and opens the debug files
  std::vector<std::string> roots_;
  bool dwarf_failed_ = false;  ///< the fault of an entry is reported once
  struct opened_dwarf {
    bool is_tried = false;
    std::unique_ptr<dwarf> by;
  };
  opened_dwarf dwarf_;
  opened_dwarf dwarf_with_locations_;
  std::optional<function_symbols> symbols_;
};

}  // namespace mpiacq::elf

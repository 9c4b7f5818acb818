// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "mpiacq/process/unwinder.hpp"
#include "tables/module_table.hpp"
#include "tables/shared_tables.hpp"
#include "walk/frame_stepper.hpp"
#include "walk/stack_memory.hpp"

namespace mpiacq::unwinding {

/// The code of one process, with the tables that describe it.
class process_code {
 public:
  struct loaded_module {
    unwind_module facts;
    std::shared_ptr<module_table> table{};  ///< created at the first pc in this module
  };
  /// The entry of the tables for one address.
  struct place {
    loaded_module* home = nullptr;       ///< null: the address is in no module
    const known_frame* frame = nullptr;  ///< null: no table describes it
  };

  /// `tables` and `memory` must outlive this object.
  process_code(const architecture& machine, shared_tables& tables, std::vector<unwind_module> modules,
               memory_reader& memory);

  /// The pointers in the answer are valid until the next call.
  [[nodiscard]] place at(target_address pc);
  /// All rules for the code at `pc`, which must have a frame.
  [[nodiscard]] std::optional<module_table::whole_row> row_at(const place& found, target_address pc);
  /// A word of the tables of `home`, which must have tables.
  [[nodiscard]] std::optional<std::uint64_t> table_word(loaded_module& home, target_address address);
  [[nodiscard]] std::optional<error>& failure() { return failure_; }

 private:
  [[nodiscard]] loaded_module* module_at(target_address pc);

  const architecture& machine_;
  shared_tables& tables_;
  std::vector<loaded_module> modules_;  ///< by address
  memory_reader& memory_;
  known_frame unkept_;  ///< holds the frame that the module's table has no room for
  std::optional<error> failure_;
};

}  // namespace mpiacq::unwinding

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "arguments/known_calls.hpp"
#include "mpiacq/process/unwind_modules.hpp"
#include "rules/frame_records.hpp"
#include "rules/frame_row.hpp"
#include "rules/known_frames.hpp"
#include "tables/table_bytes.hpp"

namespace mpiacq::unwinding {

/// The unwind tables of one module, shared by all processes that have it loaded. Thread: any, several at a time.
class module_table {
 public:
  /// `facts`: the module in the first process. Only differences between its addresses are kept.
  module_table(const architecture& machine, const unwind_module& facts);

  /// The entry of the tables for the code at `pc`. Null: no usable record covers it. `room` holds an entry that cannot
  /// be kept; any other entry stays valid.
  [[nodiscard]] const known_frame* find(table_source& source, target_address pc, known_frame& room);
  /// A row, with the record that it refers to.
  struct whole_row {
    checked_frame frame;
    frame_row row;
  };
  /// All rules for the code at `pc`, whose entry is `found`. Empty: the record cannot be followed.
  [[nodiscard]] std::optional<whole_row> row_at(table_source& source, const known_frame& found, target_address pc);
  [[nodiscard]] table_bytes& bytes() { return bytes_; }
  /// The calls in this module's code that have been analysed.
  [[nodiscard]] known_calls& calls() { return calls_; }

 private:
  /// Where the records are found: in a sorted table behind the header, or in `scanned`.
  struct index {
    std::uint64_t table = 0;  ///< position of the sorted table's first entry
    std::uint64_t count = 0;  ///< of its entries
    struct entry {
      std::uint64_t code = 0;      ///< the first address that the record covers, minus the beginning of the segment
      std::uint64_t position = 0;  ///< of the record
    };
    std::vector<entry> scanned{};
  };

  [[nodiscard]] const index* known_index(table_source& source);
  [[nodiscard]] std::optional<index> read_header(table_source& source);
  [[nodiscard]] index scan(table_source& source, std::uint64_t position, std::uint64_t end);
  [[nodiscard]] std::optional<std::uint64_t> position_for(table_source& source, target_address pc);
  [[nodiscard]] std::optional<std::uint64_t> search_table(table_source& source, const index& in, target_address pc);

  const architecture& machine_;
  table_bytes bytes_;
  known_frames known_;
  known_calls calls_;
  std::uint64_t header_ = 0;  ///< position of `.eh_frame_hdr`
  std::uint64_t header_size_ = 0;
  std::uint64_t records_ = 0;  ///< position of `.eh_frame` if there is no header
  std::uint64_t records_size_ = 0;
  std::mutex indexing_;
  std::unique_ptr<const index> index_;
  std::atomic<const index*> published_ = nullptr;
};

}  // namespace mpiacq::unwinding

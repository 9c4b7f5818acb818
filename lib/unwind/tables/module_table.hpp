// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "mpiacq/process/unwind_modules.hpp"
#include "rules/frame_records.hpp"
#include "rules/frame_row.hpp"
#include "rules/known_frames.hpp"
#include "tables/table_bytes.hpp"

namespace mpiacq::unwinding {

/// The unwind tables of one module, whichever processes have it loaded. Thread: any, also several at a time.
class module_table {
 public:
  /// `facts`: of the first process that asks; of its addresses only the differences are kept.
  module_table(const architecture& machine, const unwind_module& facts);

  /// What is said of the code at `pc`. Null: no record covers it, or not one that can be used. `room` is where it is
  /// put that cannot be kept; otherwise it stays.
  [[nodiscard]] const known_frame* find(table_source& source, target_address pc, known_frame& room);
  /// A row with the record that it refers to.
  struct whole_row {
    checked_frame frame;
    frame_row row;
  };
  /// All rules for the code at `pc`, of which `found` was said. Empty: the record cannot be followed.
  [[nodiscard]] std::optional<whole_row> row_at(table_source& source, const known_frame& found, target_address pc);
  [[nodiscard]] table_bytes& bytes() { return bytes_; }

 private:
  /// Where the records are: in a sorted table behind the header, or in `scanned`.
  struct index {
    std::uint64_t table = 0;  ///< position of the sorted table's first entry
    std::uint64_t count = 0;  ///< of its entries
    struct entry {
      std::uint64_t code = 0;      ///< the address that the record covers first, less the segment's
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
  std::uint64_t header_ = 0;  ///< position of `.eh_frame_hdr`
  std::uint64_t header_size_ = 0;
  std::uint64_t records_ = 0;  ///< of `.eh_frame`, where there is no header
  std::uint64_t records_size_ = 0;
  std::mutex indexing_;
  std::unique_ptr<const index> index_;
  std::atomic<const index*> published_ = nullptr;
};

}  // namespace mpiacq::unwinding

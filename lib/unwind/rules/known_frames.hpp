// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "rules/frame_records.hpp"
#include "rules/frame_rule.hpp"

namespace mpiacq::unwinding {

/// The entry of a module's tables for the code at one address.
struct known_frame {
  std::uint64_t code = 0;            ///< the address, relative to the beginning of the tables' segment
  target_address tables_begin;       ///< the beginning of that segment in the process of the first reader
  bool moves_along = false;          ///< the entry is valid at every load address, with `covers` moved
  frame_record covers;               ///< in addresses of that process
  std::optional<frame_rule> rule{};  ///< empty: only libunwind can leave the frame

  /// Whether the entry is valid for a process whose tables are at `begin`.
  [[nodiscard]] bool holds_at(target_address begin) const { return moves_along || tables_begin == begin; }
};

/// The known places of one module. Thread: any, several at a time; a look-up never blocks.
class known_frames {
 public:
  /// The threads of a job stand at far fewer places than this. Beyond this number, each look-up reads the tables again.
  static constexpr std::size_t most = std::size_t{1} << 16;

  known_frames();
  known_frames(const known_frames&) = delete;
  known_frames& operator=(const known_frames&) = delete;

  /// Null: the address is not known yet. The entry stays valid and does not change.
  [[nodiscard]] const known_frame* find(std::uint64_t code) const;
  /// Adds an entry; an existing entry is kept. Null: there is no room.
  const known_frame* add(known_frame frame);
  [[nodiscard]] std::size_t size() const;

 private:
  /// Each entry is at its hash, or in the next free slot behind it; at least half of the slots are free.
  using slots = std::vector<std::atomic<const known_frame*>>;
  static std::size_t place_of(const slots& in, std::uint64_t code);
  void put(slots& in, const known_frame& frame);

  mutable std::mutex adding_;
  std::deque<known_frame> frames_;
  /// A table of twice the previous size. The previous table is kept, because another thread may still read it.
  std::vector<std::unique_ptr<slots>> tables_;
  std::atomic<const slots*> published_;
};

}  // namespace mpiacq::unwinding

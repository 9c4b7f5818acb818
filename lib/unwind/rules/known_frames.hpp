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

/// What the tables of a module say of the code at one address.
struct known_frame {
  std::uint64_t code = 0;            ///< the address, counted from the beginning of the tables' segment
  target_address tables_begin;       ///< of that segment in the process that this was made for
  bool moves_along = false;          ///< it holds wherever the module is loaded, `covers` moved with it
  frame_record covers;               ///< by that process's addresses
  std::optional<frame_rule> rule{};  ///< empty: leaving the frame takes libunwind

  /// Whether it holds for a process that has the tables at `begin`.
  [[nodiscard]] bool holds_at(target_address begin) const { return moves_along || tables_begin == begin; }
};

/// The places of one module that somebody has stood at. Thread: any, also several at a time; looking waits for nobody.
class known_frames {
 public:
  /// The threads of a job stand at far fewer places than this; for more, the tables are read again each time.
  static constexpr std::size_t most = std::size_t{1} << 16;

  known_frames();
  known_frames(const known_frames&) = delete;
  known_frames& operator=(const known_frames&) = delete;

  /// Null: nothing is known yet of this address. What it gives stays and does not change.
  [[nodiscard]] const known_frame* find(std::uint64_t code) const;
  /// What was there first stays. Null: there is no room.
  const known_frame* add(known_frame frame);
  [[nodiscard]] std::size_t size() const;

 private:
  /// Each at its hash, or in the next free place behind that; at least half are free.
  using slots = std::vector<std::atomic<const known_frame*>>;
  static std::size_t place_of(const slots& in, std::uint64_t code);
  void put(slots& in, const known_frame& frame);

  mutable std::mutex adding_;
  std::deque<known_frame> frames_;
  /// One twice as large as the one before it: somebody may still be looking into that.
  std::vector<std::unique_ptr<slots>> tables_;
  std::atomic<const slots*> published_;
};

}  // namespace mpiacq::unwinding

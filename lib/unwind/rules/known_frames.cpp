// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "rules/known_frames.hpp"

#include <utility>

namespace mpiacq::unwinding {

namespace {

constexpr std::size_t first_size = 256;  // every size is a power of two

std::size_t hash_of(std::uint64_t code) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15U;
  return static_cast<std::size_t>(code * golden >> 32);
}

}  // namespace

known_frames::known_frames() {
  tables_.push_back(std::make_unique<slots>(first_size));
  published_.store(tables_.back().get(), std::memory_order_release);
}

/// The slot of `code`, or the free slot for it.
std::size_t known_frames::place_of(const slots& in, std::uint64_t code) {
  std::size_t at = hash_of(code) & (in.size() - 1);
  for (;; at = (at + 1) & (in.size() - 1)) {
    const known_frame* there = in[at].load(std::memory_order_acquire);
    if (there == nullptr || there->code == code) return at;
  }
}

const known_frame* known_frames::find(std::uint64_t code) const {
  const slots& in = *published_.load(std::memory_order_acquire);
  return in[place_of(in, code)].load(std::memory_order_acquire);
}

void known_frames::put(slots& in, const known_frame& frame) {
  in[place_of(in, frame.code)].store(&frame, std::memory_order_release);
}

const known_frame* known_frames::add(known_frame frame) {
  const std::lock_guard lock{adding_};
  if (const known_frame* known = find(frame.code)) return known;
  if (frames_.size() >= most) return nullptr;
  const known_frame& added = frames_.emplace_back(std::move(frame));
  if (2 * frames_.size() > tables_.back()->size()) {
    auto larger = std::make_unique<slots>(2 * tables_.back()->size());
    for (const known_frame& one : frames_) put(*larger, one);
    tables_.push_back(std::move(larger));
    published_.store(tables_.back().get(), std::memory_order_release);
  } else {
    put(*tables_.back(), added);
  }
  return &added;
}

std::size_t known_frames::size() const {
  const std::lock_guard lock{adding_};
  return frames_.size();
}

}  // namespace mpiacq::unwinding

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tables/table_pieces.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace mpiacq::mpi2dd {

namespace {

// Large enough that the cost of a call is small, and small enough to stay in the processor's cache.
constexpr std::size_t piece_bytes = std::size_t{512} << 10;

/// The largest number of structures between the base and the end of the target's address space.
std::uint64_t entries_that_fit(const array_place& place, const target_abi& abi) {
  const std::uint64_t last = abi.pointer_size == 4 ? UINT32_MAX : UINT64_MAX;
  if (place.base.value() > last || last - place.base.value() < place.needed) return 0;
  return (last - place.base.value() - place.needed) / place.stride + 1;
}

result<void> first_is_unreadable(const array_place& place, std::int64_t claimed, target_address stopped) {
  if (place.base.is_null()) {
    return fail(error{error_code::unreadable_memory,
                      fmt::format("the address of {} is null, though its size is {}", place.what, claimed)}
                    .at(place.base));
  }
  return fail(error{error_code::unreadable_memory,
                    fmt::format("{} at {:#x} (size {}) cannot be read: memory ends at {:#x}, within the first entry",
                                place.what, place.base.value(), claimed, stopped.value())}
                  .at(stopped));
}

error shortfall(const array_place& place, std::int64_t claimed, std::uint64_t done, std::uint64_t limit,
                target_address stopped) {
  if (done == limit) {
    return error{
        error_code::limit,
        fmt::format("{} claims {} entries, more than the limit of {} (table_limits::max_entries): the first {} "
                    "were read",
                    place.what, claimed, limit, done)};
  }
  return error{error_code::unreadable_memory,
               fmt::format("{} claims {} entries, but memory ends at {:#x}: the first {} were read", place.what,
                           claimed, stopped.value(), done)}
      .at(stopped);
}

}  // namespace

result<void> read_pieces(memory_reader& memory, const target_abi& abi, const array_place& place,
                         const table_limits& limits, table_facts& facts,
                         const std::function<void(const std::byte*, std::size_t)>& decode) {
  facts.address = place.base;
  if (facts.claimed == 0) return {};
  if (facts.claimed < 0) {
    return fail(error{error_code::bad_format, fmt::format("{} has a size of {}", place.what, facts.claimed)});
  }
  const auto claimed = static_cast<std::uint64_t>(facts.claimed);
  if (place.base.is_null()) return first_is_unreadable(place, facts.claimed, place.base);
  const std::uint64_t wanted = std::min({claimed, limits.max_entries, entries_that_fit(place, abi)});
  const std::uint64_t per_piece =
      std::clamp<std::uint64_t>(piece_bytes / place.stride, 1, std::max<std::uint64_t>(wanted, 1));
  const auto piece = std::make_unique_for_overwrite<std::byte[]>(per_piece * place.stride);
  std::uint64_t done = 0;
  target_address stopped = place.base;
  while (done < wanted) {
    const std::uint64_t count = std::min(per_piece, wanted - done);
    memory_range range{place.base + done * place.stride, {piece.get(), (count - 1) * place.stride + place.needed}};
    if (auto read = memory.read_ranges({&range, 1}); !read) {
      return fail(std::move(read).error().while_doing(fmt::format("reading {}", place.what)));
    }
    const std::uint64_t complete = range.got < place.needed ? 0 : (range.got - place.needed) / place.stride + 1;
    decode(piece.get(), complete);
    done += complete;
    stopped = range.address + range.got;
    if (complete < count) break;
  }
  if (done == claimed) return {};
  if (done == 0 && limits.max_entries > 0) return first_is_unreadable(place, facts.claimed, stopped);
  facts.shortfall = shortfall(place, facts.claimed, done, limits.max_entries, stopped);
  return {};
}

}  // namespace mpiacq::mpi2dd

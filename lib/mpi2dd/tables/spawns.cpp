// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tables/spawns.hpp"

#include <algorithm>
#include <numeric>

#include "errors/try.hpp"

namespace mpiacq::mpi2dd {

namespace {

// A gap of half a page between two descriptors costs less than a range of its own.
constexpr std::uint64_t widest_gap = read_page_size / 2;
constexpr std::size_t bytes_per_call = std::size_t{1} << 20;
constexpr std::size_t ranges_per_call = 256;

class spawn_reading {
 public:
  spawn_reading(memory_reader& memory, const target_abi& abi, std::span<const target_address> addresses,
                address_ids& string_ids)
      : memory_(memory), abi_(abi), size_(spawn_size(abi.pointer_size)), addresses_(addresses), ids_(string_ids) {}

  result<read_spawns> read() {
    order_.resize(addresses_.size());
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::sort(order_, {}, [this](std::uint32_t i) { return addresses_[i]; });
    into_.parent_worlds.extend(addresses_.size());
    into_.parent_ranks.extend(addresses_.size());
    into_.sequences.extend(addresses_.size());
    for (std::size_t next = 0; next < order_.size();) {
      next = plan(next);
      TRY(memory_.read_ranges(ranges_));
      for (std::size_t i = 0; i < ranges_.size(); ++i) take(i);
    }
    TRY(read_cut_off());
    return std::move(into_);
  }

 private:
  [[nodiscard]] std::uint64_t address(std::size_t position) const { return addresses_[order_[position]].value(); }

  /// Makes ranges for the descriptors from `first` on. Returns the first descriptor for the next call.
  std::size_t plan(std::size_t first) {
    ranges_.clear();
    firsts_.clear();
    std::size_t total = 0;
    std::size_t next = first;
    std::vector<std::size_t> sizes;
    while (next < order_.size()) {
      const std::uint64_t begin = address(next);
      const std::uint64_t end = begin > UINT64_MAX - size_ ? UINT64_MAX : begin + size_;
      const std::uint64_t behind = firsts_.empty() ? 0 : address(firsts_.back()) + sizes.back();
      const bool joins = !firsts_.empty() && begin <= behind + std::min(widest_gap, UINT64_MAX - behind);
      const std::uint64_t grown = joins ? std::max(end, behind) - behind : end - begin;
      if (!firsts_.empty() && total + grown > bytes_per_call) break;
      if (!joins && firsts_.size() == ranges_per_call) break;
      if (!joins) {
        firsts_.push_back(next);
        sizes.push_back(0);
      }
      sizes.back() += grown;
      total += grown;
      ++next;
    }
    buffer_.resize(total);
    std::size_t used = 0;
    for (std::size_t i = 0; i < firsts_.size(); ++i) {
      ranges_.push_back({target_address{address(firsts_[i])}, std::span{buffer_}.subspan(used, sizes[i])});
      used += sizes[i];
    }
    firsts_.push_back(next);
    return next;
  }

  void take(std::size_t range) {
    const memory_range& r = ranges_[range];
    for (std::size_t i = firsts_[range]; i < firsts_[range + 1]; ++i) {
      const std::uint64_t offset = address(i) - r.address.value();
      if (offset + size_ <= r.got) {
        decode(order_[i], r.into.data() + offset);
      } else {
        cut_off_.push_back(order_[i]);
      }
    }
  }

  /// Reads each descriptor behind a hole in its range with a range of its own.
  result<void> read_cut_off() {
    std::vector<std::byte> bytes(std::min(cut_off_.size(), ranges_per_call) * size_);
    for (std::size_t done = 0; done < cut_off_.size(); done += ranges_per_call) {
      const auto some = std::span{cut_off_}.subspan(done, std::min(ranges_per_call, cut_off_.size() - done));
      ranges_.clear();
      for (std::size_t i = 0; i < some.size(); ++i) {
        ranges_.push_back({addresses_[some[i]], std::span{bytes}.subspan(i * size_, size_)});
      }
      if (auto read = memory_.read_ranges(ranges_); !read) return read;
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (ranges_[i].got == size_) {
          decode(some[i], ranges_[i].into.data());
        } else {
          give_up(some[i], ranges_[i].address + ranges_[i].got);
        }
      }
    }
    return {};
  }

  void decode(std::uint32_t id, const std::byte* at) {
    const std::span<const std::byte> bytes{at, size_};
    const std::uint64_t world = decode_unsigned(bytes.first(abi_.pointer_size), abi_.order);
    into_.parent_worlds[id] = worlds_.number(ids_, world);
    into_.parent_ranks[id] = static_cast<std::int32_t>(decode_signed(bytes.subspan(abi_.pointer_size, 4), abi_.order));
    into_.sequences[id] = static_cast<std::int32_t>(decode_signed(bytes.subspan(abi_.pointer_size + 4, 4), abi_.order));
  }

  void give_up(std::uint32_t id, target_address stopped) {
    into_.stopped_at.resize(addresses_.size());
    into_.stopped_at[id] = stopped;
    into_.parent_worlds[id] = address_ids::null_id;
    into_.parent_ranks[id] = into_.sequences[id] = 0;
  }

  memory_reader& memory_;
  const target_abi& abi_;
  std::size_t size_;
  std::span<const target_address> addresses_;
  address_ids& ids_;
  pointer_column worlds_;
  read_spawns into_;
  std::vector<std::uint32_t> order_;  // ascending by address
  std::vector<std::byte> buffer_;
  std::vector<memory_range> ranges_;
  std::vector<std::size_t> firsts_;  // the first position of each range, and the end
  std::vector<std::uint32_t> cut_off_;
};

}  // namespace

result<read_spawns> read_spawn_descriptors(memory_reader& memory, const target_abi& abi,
                                           std::span<const target_address> addresses, address_ids& string_ids) {
  return spawn_reading(memory, abi, addresses, string_ids).read();
}

}  // namespace mpiacq::mpi2dd

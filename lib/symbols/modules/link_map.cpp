// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "modules/link_map.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

#include <fmt/format.h>

#include "errors/try.hpp"

namespace mpiacq::elf {

namespace {

constexpr std::size_t max_modules = 65536;
constexpr std::size_t max_name = 4096;  // PATH_MAX
constexpr std::size_t first_piece_of_name = 128;

/// struct r_debug { int r_version; link_map *r_map; ElfW(Addr) r_brk; enum r_state; ElfW(Addr) r_ldbase; }: an int
/// before a pointer occupies a whole word.
constexpr std::size_t words_of_r_debug = 4;
constexpr std::size_t words_of_link_map = 4;  // l_addr, l_name, l_ld, l_next

/// Fills in the names: one call for all of them, and one more for each name that is long or crosses a page.
result<void> read_names(memory_reader& memory, const std::vector<target_address>& addresses, link_map& list) {
  std::vector<std::byte> bytes(addresses.size() * first_piece_of_name);
  std::vector<memory_range> ranges;
  ranges.reserve(addresses.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const std::size_t rest_of_page = read_page_size - static_cast<std::size_t>(addresses[i].value() % read_page_size);
    const std::size_t wanted = addresses[i].is_null() ? 0 : std::min(first_piece_of_name, rest_of_page);
    ranges.push_back({addresses[i], std::span{bytes}.subspan(i * first_piece_of_name, wanted), 0});
  }
  if (ranges.empty()) return {};
  if (auto read = memory.read_ranges(ranges); !read) return read;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (addresses[i].is_null()) continue;
    const auto piece = ranges[i].into.first(ranges[i].got);
    const auto end = std::find(piece.begin(), piece.end(), std::byte{0});
    if (end != piece.end()) {
      list.entries[i].name.assign(reinterpret_cast<const char*>(piece.data()),
                                  static_cast<std::size_t>(end - piece.begin()));
      continue;
    }
    auto whole = read_c_string(memory, addresses[i], max_name);
    if (whole) {
      list.entries[i].name = std::move(*whole);
    } else {
      list.problems.push_back(std::move(whole).error().while_doing(
          fmt::format("reading the name of the module at {:#x}", list.entries[i].bias.value())));
    }
  }
  return {};
}

}  // namespace

result<link_map_head> read_link_map_head(memory_reader& memory, const target_abi& abi, target_address r_debug) {
  const std::size_t word = abi.pointer_size;
  std::array<std::byte, words_of_r_debug * 8> space{};
  const auto bytes = std::span{space}.first(words_of_r_debug * word);
  if (auto read = read_exact(memory, r_debug, bytes); !read) {
    return fail(std::move(read).error().while_doing("reading the dynamic linker's list of modules (r_debug)"));
  }
  link_map_head head;
  head.first = target_address{decode_unsigned(bytes.subspan(word, word), abi.order)};
  const target_address breakpoint{decode_unsigned(bytes.subspan(2 * word, word), abi.order)};
  if (!breakpoint.is_null()) head.breakpoint = breakpoint;
  head.being_changed = decode_unsigned(bytes.subspan(3 * word, abi.int_size), abi.order) != 0;
  return head;
}

result<link_map> read_link_map(memory_reader& memory, const target_abi& abi, const link_map_head& head) {
  const std::size_t word = abi.pointer_size;
  link_map list;
  list.breakpoint = head.breakpoint;
  std::vector<target_address> names;
  std::unordered_set<target_address> seen;
  std::array<std::byte, words_of_link_map * 8> space{};
  const auto node = std::span{space}.first(words_of_link_map * word);
  const auto field = [&](std::size_t i) {
    return target_address{decode_unsigned(node.subspan(i * word, word), abi.order)};
  };
  for (target_address next = head.first; !next.is_null(); next = field(3)) {
    if (!seen.insert(next).second) {
      list.problems.push_back(
          error{error_code::bad_format,
                fmt::format("the dynamic linker's list of modules has a cycle: it returns to {:#x} after {} modules",
                            next.value(), names.size())}
              .at(next));
      break;
    }
    if (names.size() == max_modules) {
      list.problems.push_back(
          error{error_code::limit,
                fmt::format("the dynamic linker's list has more than {} modules; the others are ignored", max_modules)}
              .at(next));
      break;
    }
    memory_range range{next, node};
    TRY(memory.read_ranges({&range, 1}));
    if (range.got < node.size()) {
      list.problems.push_back(error{
          error_code::unreadable_memory,
          fmt::format("the dynamic linker's list of modules leads to {:#x}, where there is no memory, after {} modules",
                      next.value(), names.size())}
                                  .at(next));
      break;
    }
    list.entries.push_back({field(0), field(2), {}});
    names.push_back(field(1));
  }
  TRY(read_names(memory, names, list));
  return list;
}

}  // namespace mpiacq::elf

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "objects/openmpi_groups.hpp"

#include <cstddef>
#include <span>

namespace mpiacq {

namespace {

constexpr std::uint64_t name_bytes = 8;  ///< opal_process_name_t: two numbers of four bytes

/// Replaces addresses of processes by names.
void put_names(memory_reader& memory, const target_abi& abi, const field& where, std::vector<process_word>& all) {
  std::vector<std::byte> bytes(all.size() * name_bytes);
  std::vector<memory_range> wanted;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].is_name()) continue;
    wanted.push_back(
        {target_address{all[i].bits()} + where.offset, std::span{bytes}.subspan(i * name_bytes, name_bytes)});
    places.push_back(i);
  }
  if (!memory.read_ranges(wanted)) return;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].got != name_bytes) continue;
    const std::span<const std::byte> both = wanted[i].into;
    all[places[i]] = process_word(decode_unsigned(both.first(4), abi.order), decode_unsigned(both.last(4), abi.order));
  }
}

}  // namespace

bool take_group_fields(type_reader& type, openmpi_group_fields& into) {
  if (!type.open("ompi_group_t") || !type.take("grp_proc_count", into.size) ||
      !type.take("grp_proc_pointers", into.processes)) {
    return false;
  }
  if (type.open("opal_proc_t")) into.process_name = type.find("proc_name", name_bytes);
  return true;
}

std::vector<std::uint64_t> read_words(memory_reader& memory, const target_abi& abi, target_address from,
                                      std::uint64_t count) {
  const std::size_t width = abi.pointer_size;
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * width);
  std::vector<std::uint64_t> all;
  if (!read_exact(memory, from, bytes)) return all;
  all.reserve(static_cast<std::size_t>(count));
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    all.push_back(decode_unsigned(std::span{bytes}.subspan(at, width), abi.order));
  }
  return all;
}

std::optional<std::vector<process_word>> read_group(memory_reader& memory, const target_abi& abi,
                                                    const openmpi_group_fields& where, target_address group) {
  const auto number = [&](const field& which) {
    return read_unsigned(memory, abi, group + which.offset, static_cast<std::size_t>(which.size));
  };
  const auto count = number(where.size);
  const auto processes = number(where.processes);
  if (!count || *count == 0 || *count > most_group_processes || !processes || *processes == 0) return std::nullopt;
  std::vector<process_word> all;
  for (const std::uint64_t word : read_words(memory, abi, target_address{*processes}, *count)) all.emplace_back(word);
  if (all.empty()) return std::nullopt;
  const bool has_names = where.process_name && where.process_name->size == name_bytes && abi.pointer_size == name_bytes;
  if (has_names) put_names(memory, abi, *where.process_name, all);
  return all;
}

}  // namespace mpiacq

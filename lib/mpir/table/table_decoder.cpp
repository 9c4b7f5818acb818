// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "table/table_decoder.hpp"

#include <algorithm>

#include "columns/target_integer.hpp"

namespace mpiacq {

void table_decoder::reserve(std::size_t entries) {
  into_.hosts.reserve(entries);
  into_.executables.reserve(entries);
  d_.narrow_pid() ? into_.narrow_pids.reserve(entries) : into_.wide_pids.reserve(entries);
}

void table_decoder::reserve_addresses(std::size_t entries) {
  const std::size_t decoded = into_.hosts.size();
  if (decoded == 0) return;
  for (address_ids* ids : {&host_ids_, &executable_ids_}) {
    const std::size_t an_eighth_more = ids->addresses().size() * 9 / 8;
    ids->expect(entries / decoded * an_eighth_more);
  }
}

/// Appends the shorter sequence to the longer one, which keeps its numbers.
void table_decoder::finish() {
  const bool hosts_first = host_ids_.addresses().size() > executable_ids_.addresses().size();
  addresses_ = (hosts_first ? host_ids_ : executable_ids_).take_addresses();
  column<target_address> others = (hosts_first ? executable_ids_ : host_ids_).take_addresses();
  const auto before = static_cast<std::uint32_t>(addresses_.size());
  std::copy_n(others.data(), others.size(), addresses_.extend(others.size()));
  others.drop();
  for (std::uint32_t& id : (hosts_first ? into_.executables : into_.hosts).span()) {
    id += id == address_ids::null_id ? 0 : before;
  }
}

void table_decoder::decode(const std::byte* piece, std::size_t count) {
  const bool little = d_.order == byte_order::little;
  if (d_.pointer_size == 8) {
    return little ? decode_pointers<byte_order::little, 8>(piece, count)
                  : decode_pointers<byte_order::big, 8>(piece, count);
  }
  little ? decode_pointers<byte_order::little, 4>(piece, count) : decode_pointers<byte_order::big, 4>(piece, count);
}

template <byte_order Order, std::size_t PointerSize>
void table_decoder::decode_pointers(const std::byte* piece, std::size_t count) {
  if (d_.pid_size == 4 && d_.pid_signed) {
    return decode_entries<Order, PointerSize>(piece, count, into_.narrow_pids, [](const std::byte* at) {
      return static_cast<std::int32_t>(load_integer<Order, 4>(at));
    });
  }
  if (d_.pid_size == 8) {
    return decode_entries<Order, PointerSize>(piece, count, into_.wide_pids, [](const std::byte* at) {
      return static_cast<std::int64_t>(load_integer<Order, 8>(at));
    });
  }
  // All other widths and signs: slower, and no known starter uses one.
  const auto read_any = [this](const std::byte* at) {
    const std::span<const std::byte> bytes{at, d_.pid_size};
    return d_.pid_signed ? decode_signed(bytes, d_.order) : static_cast<std::int64_t>(decode_unsigned(bytes, d_.order));
  };
  if (d_.narrow_pid()) {
    return decode_entries<Order, PointerSize>(
        piece, count, into_.narrow_pids, [&](const std::byte* at) { return static_cast<std::int32_t>(read_any(at)); });
  }
  decode_entries<Order, PointerSize>(piece, count, into_.wide_pids, read_any);
}

template <byte_order Order, std::size_t PointerSize, class Pid, class ReadPid>
void table_decoder::decode_entries(const std::byte* piece, std::size_t count, column<Pid>& pids, ReadPid read_pid) {
  const descriptor d = d_;  // a copy, so that the compiler knows that no write below changes it
  std::uint32_t* hosts = into_.hosts.extend(count);
  std::uint32_t* executables = into_.executables.extend(count);
  Pid* out = pids.extend(count);
  // Local variables stay in registers: most entries repeat the previous address.
  std::uint64_t host = last_host_, executable = last_executable_;
  std::uint32_t host_id = host_.last_id, executable_id = executable_.last_id;
  std::size_t implausible = 0;
  for (std::size_t i = 0; i < count; ++i, piece += d.stride) {
    const std::uint64_t this_host = load_integer<Order, PointerSize>(piece + d.host_name);
    if (this_host != host) {
      host = this_host;
      host_id = host_ids_.id(host_, host);
    }
    const std::uint64_t this_executable = load_integer<Order, PointerSize>(piece + d.executable_name);
    if (this_executable != executable) {
      executable = this_executable;
      executable_id = executable_ids_.id(executable_, executable);
    }
    hosts[i] = host_id;
    executables[i] = executable_id;
    out[i] = read_pid(piece + d.pid);
    implausible += is_plausible_pid(out[i]) ? 0U : 1U;
  }
  last_host_ = host;
  last_executable_ = executable;
  implausible_pids_ += implausible;
}

}  // namespace mpiacq

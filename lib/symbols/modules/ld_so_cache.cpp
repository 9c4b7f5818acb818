// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "modules/ld_so_cache.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "elf/input_file.hpp"
#include "mpiacq/base/abi.hpp"

namespace mpiacq::elf {

namespace {

constexpr std::string_view new_magic = "glibc-ld.so.cache1.1";
constexpr std::size_t header_size = 48;
constexpr std::size_t entry_size = 24;
constexpr std::uint64_t max_file = 16U << 20;
constexpr std::size_t max_path = 4096;

/// The file belongs to this machine: ldconfig writes it in the machine's byte order. The flag that states the byte
/// order (since glibc 2.33) is 2 for little endian.
std::uint64_t number(std::span<const std::byte> bytes, std::size_t offset) {
  constexpr auto order = std::endian::native == std::endian::big ? byte_order::big : byte_order::little;
  return decode_unsigned(bytes.subspan(offset, 4), order);
}

std::optional<std::string> text(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return std::nullopt;
  const auto* begin = reinterpret_cast<const char*>(bytes.data()) + offset;
  const std::size_t room = std::min(bytes.size() - static_cast<std::size_t>(offset), max_path);
  const void* end = std::memchr(begin, 0, room);
  if (end == nullptr) return std::nullopt;
  return std::string{begin, static_cast<const char*>(end)};
}

}  // namespace

ld_so_cache::ld_so_cache(std::span<const std::byte> bytes) {
  const std::string_view all{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const std::size_t begin = all.find(new_magic);
  if (begin == std::string_view::npos) return;
  bytes = bytes.subspan(begin);  // string offsets are relative to this position
  if (bytes.size() < header_size) return;
  const std::uint64_t count = number(bytes, new_magic.size());
  if (count > (bytes.size() - header_size) / entry_size) return;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t entry = header_size + i * entry_size;
    auto name = text(bytes, number(bytes, entry + 4));
    auto path = text(bytes, number(bytes, entry + 8));
    if (name && path) paths_[std::move(*name)].push_back(std::move(*path));
  }
}

ld_so_cache ld_so_cache::read(const std::string& path, const std::string& root) {
  const auto file = input_file::open_below(root, path);
  if (!file || file->size() > max_file) return {};
  const auto bytes = file->read(0, file->size());
  return bytes ? ld_so_cache{*bytes} : ld_so_cache{};
}

std::span<const std::string> ld_so_cache::find(std::string_view library) const {
  const auto found = paths_.find(std::string{library});
  return found == paths_.end() ? std::span<const std::string>{} : std::span<const std::string>{found->second};
}

}  // namespace mpiacq::elf

namespace mpiacq {

std::vector<std::string> files_in_linker_cache(std::string_view library, const std::string& root) {
  const auto cache = elf::ld_so_cache::read(elf::ld_so_cache::usual_path, root);
  const auto found = cache.find(library);
  return {found.begin(), found.end()};
}

}  // namespace mpiacq

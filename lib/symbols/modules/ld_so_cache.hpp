// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mpiacq::elf {

/// Library names and the files that ldconfig found for them, of all architectures.
class ld_so_cache {
 public:
  ld_so_cache() = default;
  /// The format "glibc-ld.so.cache1.1", alone or behind the older one. Anything else gives an empty cache, and an entry
  /// that points outside of the bytes is left out.
  explicit ld_so_cache(std::span<const std::byte> bytes);
  /// Reads the file; an empty cache where it cannot be.
  [[nodiscard]] static ld_so_cache read(const std::string& path = "/etc/ld.so.cache");

  /// In the cache's order, which is the dynamic linker's preference.
  [[nodiscard]] std::span<const std::string> find(std::string_view library) const;

 private:
  std::unordered_map<std::string, std::vector<std::string>> paths_;
};

}  // namespace mpiacq::elf

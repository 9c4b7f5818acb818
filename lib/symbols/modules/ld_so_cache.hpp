// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mpiacq::elf {

/// The library names in the cache of ldconfig, with their files, for all architectures.
class ld_so_cache {
 public:
  ld_so_cache() = default;
  /// Parses the format "glibc-ld.so.cache1.1", alone or behind the older one. Any other format gives an empty cache. An
  /// entry that points outside of the bytes is left out.
  explicit ld_so_cache(std::span<const std::byte> bytes);
  static constexpr const char* usual_path = "/etc/ld.so.cache";
  /// Reads the file below `root` (empty: this program's root); the cache is empty if the file cannot be read.
  [[nodiscard]] static ld_so_cache read(const std::string& path = usual_path, const std::string& root = {});

  /// The files of a library in the order of the cache, which is the dynamic linker's preference.
  [[nodiscard]] std::span<const std::string> find(std::string_view library) const;

 private:
  std::unordered_map<std::string, std::vector<std::string>> paths_;
};

}  // namespace mpiacq::elf

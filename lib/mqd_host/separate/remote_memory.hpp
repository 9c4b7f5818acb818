// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "host/tool_link.hpp"
#include "mpiacq/base/memory.hpp"
#include "separate/shared_area.hpp"

namespace mpiacq::mqd_host {

/// The target's memory as the separate process has it: each page comes over once, with some that follow it, because
/// lists lie in memory as they were allocated.
class remote_memory {
 public:
  remote_memory(const tool_link& tool, shared_area& area) : tool_(tool), area_(area) {}

  /// All of it, or false.
  [[nodiscard]] result<bool> read(std::uint64_t address, std::span<std::byte> into);

 private:
  struct page {
    std::unique_ptr<std::byte[]> bytes;  ///< null where none of it can be read
    std::size_t got = 0;                 ///< so many from its beginning can; a core file may end within a page
  };

  [[nodiscard]] result<const page*> page_at(std::uint64_t address);
  [[nodiscard]] result<void> fetch(std::uint64_t address);
  [[nodiscard]] std::uint64_t pages_to_fetch(std::uint64_t address);

  static constexpr std::uint64_t no_page = 1;

  const tool_link& tool_;
  shared_area& area_;
  std::unordered_map<std::uint64_t, page> pages_;  ///< by address; what is here stays in its place
  std::uint64_t last_address_ = no_page;           ///< of `last_`
  const page* last_ = nullptr;
  std::uint64_t expected_ = no_page;  ///< the page after those that came last: who asks for it walks along
  std::uint64_t ahead_ = 1;           ///< pages
};

}  // namespace mpiacq::mqd_host

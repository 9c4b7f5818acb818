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

/// The target's memory in the separate process. Each page is requested once, together with some following ones, because
/// lists mostly lie in memory in the order of their allocation.
class remote_memory {
 public:
  remote_memory(const tool_link& tool, shared_area& area) : tool_(tool), area_(area) {}

  /// Reads all bytes, or returns false.
  [[nodiscard]] result<bool> read(std::uint64_t address, std::span<std::byte> into);

 private:
  struct page {
    std::unique_ptr<std::byte[]> bytes;  ///< null if nothing of the page can be read
    std::size_t got = 0;                 ///< the readable bytes from its beginning; a core file may end within a page
  };

  [[nodiscard]] result<const page*> page_at(std::uint64_t address);
  [[nodiscard]] result<void> fetch(std::uint64_t address);
  [[nodiscard]] std::uint64_t pages_to_fetch(std::uint64_t address);

  static constexpr std::uint64_t no_page = 1;

  const tool_link& tool_;
  shared_area& area_;
  std::unordered_map<std::uint64_t, page> pages_;  ///< by address; a page's bytes never move
  std::uint64_t last_address_ = no_page;           ///< the address of `last_`
  const page* last_ = nullptr;
  std::uint64_t expected_ = no_page;  ///< the page after the last answer: a request for it shows a sequential walk
  std::uint64_t ahead_ = 1;           ///< the number of pages in the next request
};

}  // namespace mpiacq::mqd_host

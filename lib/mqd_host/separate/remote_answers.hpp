// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "host/tool_link.hpp"
#include "library/process_answers.hpp"
#include "separate/remote_memory.hpp"

namespace mpiacq::mqd_host {

/// Answers callbacks in the separate process by asking the tool, once for each name and type.
class remote_answers final : public process_answers {
 public:
  remote_answers(const tool_link& tool, shared_area& area, const target_abi& abi)
      : tool_(tool), memory_(tool, area), abi_(abi) {}

  [[nodiscard]] const target_abi& abi() const override { return abi_; }
  [[nodiscard]] result<std::optional<std::uint64_t>> find_function(std::string_view name,
                                                                   source_language language) override;
  [[nodiscard]] result<std::optional<std::uint64_t>> find_symbol(std::string_view name) override;
  [[nodiscard]] result<std::optional<type_number>> find_type(std::string_view name, source_language language) override;
  [[nodiscard]] result<std::int64_t> field_offset(type_number type, std::string_view field) override;
  [[nodiscard]] result<std::uint64_t> type_size(type_number type) override;
  [[nodiscard]] result<bool> fetch(std::uint64_t address, std::span<std::byte> into) override;

 private:
  struct known_type {
    std::uint64_t size = 0;
    std::map<std::string, std::int64_t, std::less<>> offsets;
  };
  [[nodiscard]] result<std::optional<std::uint64_t>> look_up(bool function, std::string_view name,
                                                             source_language language);

  const tool_link& tool_;
  remote_memory memory_;
  target_abi abi_;
  std::map<std::tuple<bool, source_language, std::string>, std::optional<std::uint64_t>> symbols_;
  std::map<std::tuple<source_language, std::string>, std::optional<type_number>> type_numbers_;
  std::vector<known_type> types_;  ///< indexed by type_number
};

}  // namespace mpiacq::mqd_host

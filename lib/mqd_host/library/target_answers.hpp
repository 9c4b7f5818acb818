// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "library/process_answers.hpp"
#include "mpiacq/queues/queue_host.hpp"

namespace mpiacq::mqd_host {

/// Answers from the process itself. Each name is looked up once; each page of memory is read once.
class target_answers final : public process_answers {
 public:
  /// `subject`'s process and types must outlive this object.
  explicit target_answers(const queue_subject& subject);

  [[nodiscard]] const target_abi& abi() const override { return process_.abi; }
  [[nodiscard]] result<std::optional<std::uint64_t>> find_function(std::string_view name,
                                                                   source_language language) override;
  [[nodiscard]] result<std::optional<std::uint64_t>> find_symbol(std::string_view name) override;
  [[nodiscard]] result<std::optional<type_number>> find_type(std::string_view name, source_language language) override;
  [[nodiscard]] result<std::int64_t> field_offset(type_number type, std::string_view field) override;
  [[nodiscard]] result<std::uint64_t> type_size(type_number type) override;
  [[nodiscard]] result<bool> fetch(std::uint64_t address, std::span<std::byte> into) override;

 private:
  using address_or_none = std::optional<std::uint64_t>;
  [[nodiscard]] result<address_or_none> first_of(std::span<const std::string> names);

  target& process_;
  type_source& types_;
  page_cache memory_;
  std::map<std::pair<std::string, source_language>, address_or_none> functions_;
  std::map<std::string, address_or_none, std::less<>> symbols_;
  std::map<std::pair<std::string, source_language>, std::optional<type_number>> type_numbers_;
  std::vector<structure_layout> layouts_;  ///< indexed by type_number
};

}  // namespace mpiacq::mqd_host

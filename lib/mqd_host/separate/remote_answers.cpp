// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "separate/remote_answers.hpp"

#include <algorithm>

#include "errors/try.hpp"

namespace mpiacq::mqd_host {

result<std::optional<std::uint64_t>> remote_answers::look_up(bool function, std::string_view name,
                                                             source_language language) {
  if (name.empty() || name.size() > longest_asked_name) return std::nullopt;
  std::tuple key{function, language, std::string{name}};
  if (const auto known = symbols_.find(key); known != symbols_.end()) return known->second;
  auto answer = tool_.ask(look_up_request{function, language, std::string{name}});
  if (answer) symbols_.emplace(std::move(key), *answer);
  return answer;
}

result<std::optional<std::uint64_t>> remote_answers::find_function(std::string_view name, source_language language) {
  return look_up(true, name, language);
}

result<std::optional<std::uint64_t>> remote_answers::find_symbol(std::string_view name) {
  return look_up(false, name, source_language::c);
}

result<std::optional<type_number>> remote_answers::find_type(std::string_view name, source_language language) {
  if (name.empty() || name.size() > longest_asked_name) return std::nullopt;
  std::tuple key{language, std::string{name}};
  if (const auto known = type_numbers_.find(key); known != type_numbers_.end()) return known->second;
  auto answer = TRY(tool_.ask(type_request{language, std::string{name}}));
  std::optional<type_number> number;
  if (answer) {
    number = static_cast<type_number>(types_.size());
    known_type& type = types_.emplace_back(known_type{answer->size, {}});
    for (type_field& field : answer->fields) type.offsets.emplace(std::move(field.name), field.offset);
  }
  type_numbers_.emplace(std::move(key), number);
  return number;
}

result<std::int64_t> remote_answers::field_offset(type_number type, std::string_view field) {
  if (type >= types_.size()) return -1;
  const auto found = types_[type].offsets.find(field);
  return found == types_[type].offsets.end() ? -1 : found->second;
}

result<std::uint64_t> remote_answers::type_size(type_number type) {
  return type < types_.size() ? types_[type].size : 0;
}

result<bool> remote_answers::fetch(std::uint64_t address, std::span<std::byte> into) {
  return memory_.read(address, into);
}

}  // namespace mpiacq::mqd_host

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "objects/type_fields.hpp"

#include <utility>

namespace mpiacq {

bool type_reader::open(std::string_view type) {
  auto found = types_.type_named(type, source_language::c);
  known_ = found && *found;
  if (known_) layout_ = std::move(**found);
  return known_;
}

std::optional<field> type_reader::find(std::string_view name, std::uint64_t largest) const {
  const structure_member* member = known_ ? layout_.find(name) : nullptr;
  if (member == nullptr || member->size == 0 || member->size > largest) return std::nullopt;
  return field{member->offset, member->size};
}

bool type_reader::take(std::string_view name, field& into) const {
  const auto found = find(name);
  if (found) into = *found;
  return found.has_value();
}

bool take_communicator_id(const type_reader& type, field& into) {
  return type.take("c_index", into) || type.take("c_contextid", into);
}

}  // namespace mpiacq

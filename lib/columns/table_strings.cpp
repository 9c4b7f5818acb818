// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "table_strings.hpp"

#include <algorithm>

namespace mpiacq {

namespace {
field_fault fault_of(string_outcome what) {
  switch (what) {
    case string_outcome::unterminated_at_limit:
      return field_fault::too_long;
    case string_outcome::beyond_total:
      return field_fault::beyond_limit;
    default:
      return field_fault::unreadable;
  }
}
}  // namespace

result<void> table_strings::read(memory_reader& memory, std::span<const target_address> addresses,
                                 const string_limits& limits) {
  pool_ = string_pool(addresses.size());
  const auto visit = [&](const visited_string& s) {
    const auto id = static_cast<std::uint32_t>(s.index);
    if (s.what == string_outcome::ok) {
      saw_empty_ = saw_empty_ || s.text.empty();
      return pool_.add(id, s.text);
    }
    pool_.add_failure(id, static_cast<std::uint32_t>(failures_.size()));
    failures_.push_back({fault_of(s.what), s.stopped_at});
  };
  const string_limits bounds{std::min<std::size_t>(limits.bytes_each, UINT32_MAX - 1), limits.bytes_in_all};
  if (auto read = visit_c_strings(memory, addresses, bounds, visit); !read) return read;
  pool_.finish();
  return {};
}

void table_strings::take(std::span<const std::string_view> texts) {
  pool_ = string_pool(texts.size());
  for (std::uint32_t id = 0; id < texts.size(); ++id) pool_.add(id, texts[id]);
  pool_.finish();
}

const table_strings::failure* table_strings::failure_of(std::uint32_t id) {
  const string_pool::entry& string = pool_.entries()[id];
  return string.same_as != string_pool::none ? nullptr : &failures_[string.length];
}

bool table_strings::is_empty(std::uint32_t id) const {
  const std::uint32_t kept = string_pool::kept_as(pool_.entries(), id);
  return kept != none && pool_.entries()[kept].length == 0;
}

void table_strings::renumber(std::initializer_list<column<std::uint32_t>*> columns) {
  strings_ = std::move(pool_.entries());
  texts_ = std::move(pool_.texts());
  const bool gaps = pool_.has_gaps(strings_.size());
  pool_ = string_pool{0};  // its hash table is no longer needed
  failures_ = {};
  if (!gaps) return;
  std::vector<std::uint32_t> number(strings_.size(), none);
  const auto kept_as = [&](std::uint32_t id) { return string_pool::kept_as(strings_, id); };
  std::uint32_t next = 0;
  for (std::uint32_t id = 0; id < strings_.size(); ++id) {
    if (kept_as(id) == id) number[id] = next++;
  }
  for (std::uint32_t id = 0; id < strings_.size(); ++id) {
    const std::uint32_t kept = kept_as(id);
    if (kept != none) number[id] = number[kept];
  }
  for (column<std::uint32_t>* ids : columns) {
    for (std::uint32_t& id : ids->span()) id = id < number.size() ? number[id] : id;
  }
  std::uint32_t kept = 0;
  for (std::uint32_t id = 0; id < strings_.size(); ++id) {
    if (strings_[id].same_as == id) strings_[kept++] = strings_[id];
  }
  strings_.shrink(kept);
  strings_.trim();
}

}  // namespace mpiacq

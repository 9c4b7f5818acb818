// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <array>

#include <fmt/format.h>

#include "tables/table_layouts.hpp"

namespace mpiacq::mpi2dd {

namespace {
entry_fault fault_of(field_fault fault) {
  switch (fault) {
    case field_fault::too_long:
      return entry_fault::too_long;
    case field_fault::beyond_limit:
      return entry_fault::beyond_limit;
    default:
      return entry_fault::unreadable;
  }
}
}  // namespace

std::string_view name(table_field field) {
  constexpr std::array<std::string_view, 9> names = {
      "host_name", "executable_name",      "spawn_desc",  "comm_world_id", "pid",
      "rank",      "parent_comm_world_id", "parent_rank", "sequence"};
  return names[static_cast<std::size_t>(field)];
}

std::string entry_problem::sentence() const {
  const std::string what = fmt::format("{} of entry {}", name(field), entry);
  switch (fault) {
    case entry_fault::null_pointer:
      return fmt::format("{}: the pointer is null", what);
    case entry_fault::empty:
      return fmt::format("{}: the string at {:#x} is empty", what, address.value());
    case entry_fault::unreadable:
      if (stopped_at == address) return fmt::format("{}: the pointer {:#x} cannot be read", what, address.value());
      return fmt::format("{}: the string at {:#x} has no end before {:#x}, which cannot be read", what, address.value(),
                         stopped_at.value());
    case entry_fault::too_long:
      return fmt::format("{}: the string at {:#x} has no end within the limit of a string", what, address.value());
    case entry_fault::beyond_limit:
      return fmt::format("{}: the string at {:#x} was not read, the table's strings have too many bytes in all", what,
                         address.value());
    case entry_fault::impossible_number:
      return fmt::format("{}: {} is not a possible value", what, value);
  }
  return what;
}

bool problem_notes::judge_string(table_strings& strings, std::span<const target_address> addresses, std::uint32_t entry,
                                 table_field field, std::uint32_t& id) {
  if (id >= addresses.size()) return false;
  const table_strings::failure* failure = strings.failure_of(id);
  if (failure == nullptr) return false;
  add({entry, field, fault_of(failure->fault), addresses[id], failure->stopped_at, 0});
  id = unreadable_string;
  return true;
}

}  // namespace mpiacq::mpi2dd

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/job/process_table.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "table/table_columns.hpp"

namespace mpiacq {

std::string_view name(descriptor_field field) {
  constexpr std::array<std::string_view, 3> names = {"host_name", "executable_name", "pid"};
  return names[static_cast<std::size_t>(field)];
}

std::string field_problem::sentence(const rank_names& names) const {
  const std::string what = fmt::format("{} of rank {}", name(field), names.of(entry));
  switch (fault) {
    case field_fault::null_pointer:
      return fmt::format("{}: the pointer is null", what);
    case field_fault::unreadable:
      if (stopped_at == address) return fmt::format("{}: the pointer {:#x} cannot be read", what, address.value());
      return fmt::format("{}: the string at {:#x} has no end before {:#x}, which cannot be read", what, address.value(),
                         stopped_at.value());
    case field_fault::too_long:
      return fmt::format(
          "{}: the string at {:#x} has no end within the limit of a string "
          "(table_limits::max_string_bytes)",
          what, address.value());
    case field_fault::beyond_limit:
      return fmt::format(
          "{}: the string at {:#x} was not read, the table's strings have too many bytes in all "
          "(table_limits::max_string_bytes_in_all)",
          what, address.value());
    case field_fault::implausible_pid:
      return fmt::format("{}: {} is no process id", what, pid.value());
  }
  return what;
}

process_table::process_table() : columns_(std::make_shared<process_table_columns>()) {}
process_table::process_table(std::unique_ptr<process_table_columns> c) : columns_(std::move(c)) {}
process_table::~process_table() = default;
process_table::process_table(process_table&&) noexcept = default;
process_table& process_table::operator=(process_table&&) noexcept = default;

std::size_t process_table::size() const {
  return columns_->hosts.size();
}

std::optional<std::string_view> process_table::host_name(entry_index entry) const {
  const std::uint32_t number = columns_->hosts[entry.value()];
  if (number == no_string) return std::nullopt;
  return string(number);
}

std::optional<std::string_view> process_table::executable_name(entry_index entry) const {
  const std::uint32_t number = columns_->executables[entry.value()];
  if (number == no_string) return std::nullopt;
  return string(number);
}

process_id process_table::pid(entry_index entry) const {
  return pids_ ? (*pids_)[entry.value()] : published_pid(entry);
}

process_table process_table::with_pids(std::vector<process_id> pids) const {
  process_table made;
  made.columns_ = columns_;
  made.pids_ = std::make_shared<const std::vector<process_id>>(std::move(pids));
  made.names_of_this_node_ = names_of_this_node_;
  return made;
}

process_id process_table::published_pid(entry_index entry) const {
  if (columns_->wide_pids.size() > 0) return process_id{columns_->wide_pids[entry.value()]};
  return process_id{columns_->narrow_pids[entry.value()]};
}

std::span<const std::uint32_t> process_table::host_numbers() const {
  return std::as_const(columns_->hosts).span();
}
std::span<const std::uint32_t> process_table::executable_numbers() const {
  return std::as_const(columns_->executables).span();
}
std::string_view process_table::string(std::uint32_t number) const {
  return columns_->strings[number];
}
std::size_t process_table::string_count() const {
  return columns_->strings.size();
}

std::span<const field_problem> process_table::problems() const {
  return columns_->problems;
}
std::size_t process_table::problem_count() const {
  return columns_->problem_count;
}
std::vector<field_problem> process_table::problems_of(entry_index entry) const {
  const auto before = [](const field_problem& p, entry_index e) { return p.entry < e; };
  const auto first = std::lower_bound(columns_->problems.begin(), columns_->problems.end(), entry, before);
  const auto last =
      std::lower_bound(first, columns_->problems.end(), entry_index{std::size_t{entry.value()} + 1}, before);
  return {first, last};
}

const rank_names& process_table::names() const {
  return columns_->names;
}
std::span<const job_world> process_table::worlds() const {
  return columns_->worlds;
}

const std::optional<error>& process_table::shortfall() const {
  return columns_->shortfall;
}
std::uint64_t process_table::claimed_size() const {
  return columns_->claimed;
}
const structure_layout& process_table::layout() const {
  return columns_->layout;
}

std::optional<user_id> process_table::user() const {
  return columns_->user;
}
void process_table::belongs_to(std::optional<user_id> starters) {
  columns_->user = starters;
}

bool process_table::same_processes(const process_table& other) const {
  if (size() != other.size() || columns_->worlds != other.columns_->worlds) return false;
  // For each string of this table, the equal string of the other one, so that shared strings are compared once.
  std::vector<std::uint32_t> equal_to(string_count(), no_string);
  const auto same = [&](std::uint32_t mine, std::uint32_t its) {
    if (mine == no_string || its == no_string) return mine == its;
    if (equal_to[mine] == its) return true;
    if (string(mine) != other.string(its)) return false;
    equal_to[mine] = its;
    return true;
  };
  for (std::size_t i = 0; i < size(); ++i) {
    const entry_index entry{i};
    if (pid(entry) != other.pid(entry) || names().world(entry) != other.names().world(entry) ||
        names().rank(entry) != other.names().rank(entry)) {
      return false;
    }
    if (!same(columns_->hosts[i], other.columns_->hosts[i])) return false;
    if (!same(columns_->executables[i], other.columns_->executables[i])) return false;
  }
  return true;
}

}  // namespace mpiacq

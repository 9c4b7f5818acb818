// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "wire/process_accounts.hpp"

#include <span>
#include <utility>

#include "wire/queue_documents.hpp"

namespace mpiacq::agents {

namespace {

template <class Number>
column_part column_of(std::span<const Number> numbers) {
  column_part column;
  for (const group_run& run : runs_of({numbers.begin(), numbers.end()})) {
    column.push_back(run.first);
    column.push_back(run.step);
    column.push_back(static_cast<std::int64_t>(run.count));
  }
  return column;
}

template <class Entries>
std::vector<std::string> strings_of(const Entries& entries) {
  std::vector<std::string> all;
  for (std::uint32_t i = 0; i < entries.string_count(); ++i) all.emplace_back(entries.string(i));
  return all;
}

process_table_part part_of(const mpi2dd::process_entries& entries) {
  std::vector<std::int64_t> worlds, ranks, sequences;
  for (const mpi2dd::spawn_description& spawn : entries.spawn_descriptions()) {
    worlds.push_back(spawn.parent_world);
    ranks.push_back(spawn.parent_rank);
    sequences.push_back(spawn.sequence);
  }
  return {column_of(entries.hosts()),
          column_of(entries.executables()),
          column_of(entries.worlds()),
          column_of(entries.spawns()),
          column_of(entries.pids()),
          column_of(entries.ranks()),
          {column_of<std::int64_t>(worlds), column_of<std::int64_t>(ranks), column_of<std::int64_t>(sequences)},
          strings_of(entries),
          entries.facts()};
}

directory_table_part part_of(const mpi2dd::directory_entries& entries) {
  return {column_of(entries.hosts()),
          column_of(entries.executables()),
          column_of(entries.pids()),
          strings_of(entries),
          entries.facts(),
          entries.stride()};
}

template <class Entries>
auto part_of(const mpi2dd::table_reading<Entries>& reading) {
  table_reading_part<decltype(part_of(*reading.entries))> part;
  if (reading.entries) part.entries = part_of(*reading.entries);
  part.failure = reading.failure;
  return part;
}

/// Unfolds columns and counts their numbers. Stops at the first wrong column.
class column_maker {
 public:
  explicit column_maker(std::uint64_t& left) : left_(left) {}
  template <class Number>
  std::vector<Number> make(const column_part& column) {
    std::vector<Number> numbers;
    if (column.size() % 3 != 0) give_up(error_code::bad_format, "a column that ends within a run");
    for (std::size_t i = 0; i + 2 < column.size() && !why_; i += 3) {
      add_run(numbers, column[i], column[i + 1], static_cast<std::uint64_t>(column[i + 2]));
    }
    return numbers;
  }
  void give_up(error_code code, const char* why) {
    if (!why_) why_ = error{code, why};
  }
  [[nodiscard]] const std::optional<error>& why() const { return why_; }

  /// The table; empty if one of its columns is wrong.
  template <class Entries, class Rows>
  std::optional<Entries> checked(result<Entries> (*make_entries)(Rows), Rows rows) {
    if (why_) return std::nullopt;
    auto made = make_entries(std::move(rows));
    if (made) return std::move(*made);
    why_ = std::move(made).error();
    return std::nullopt;
  }

 private:
  template <class Number>
  void add_run(std::vector<Number>& numbers, std::int64_t first, std::int64_t step, std::uint64_t count) {
    if (count > left_) return give_up(error_code::limit, "tables have too many entries together");
    left_ -= count;
    // With this bound no sum overflows.
    constexpr std::int64_t most = std::int64_t{1} << 33U;
    if (first < -most || first > most || step < -most || step > most)
      return give_up(error_code::bad_format, "a column has a number that is out of range");
    std::int64_t next = first;
    for (std::uint64_t i = 0; i < count; ++i, next += step) {
      if (!std::in_range<Number>(next)) return give_up(error_code::bad_format, "a column has a number out of range");
      numbers.push_back(static_cast<Number>(next));
    }
  }

  std::uint64_t& left_;
  std::optional<error> why_;
};

std::optional<mpi2dd::process_entries> entries_of(process_table_part&& part, column_maker& columns) {
  mpi2dd::process_rows rows;
  rows.hosts = columns.make<std::uint32_t>(part.hosts);
  rows.executables = columns.make<std::uint32_t>(part.executables);
  rows.worlds = columns.make<std::uint32_t>(part.worlds);
  rows.spawns = columns.make<std::uint32_t>(part.spawns);
  rows.pids = columns.make<std::int32_t>(part.pids);
  rows.ranks = columns.make<std::int32_t>(part.ranks);
  const auto worlds = columns.make<std::uint32_t>(part.spawned_by.worlds);
  const auto ranks = columns.make<std::int32_t>(part.spawned_by.ranks);
  const auto sequences = columns.make<std::int32_t>(part.spawned_by.sequences);
  if (ranks.size() != worlds.size() || sequences.size() != worlds.size())
    columns.give_up(error_code::bad_format, "spawns with columns of different lengths");
  for (std::size_t i = 0; i < worlds.size() && !columns.why(); ++i)
    rows.spawn_descriptions.push_back({worlds[i], ranks[i], sequences[i]});
  rows.strings = std::move(part.strings);
  rows.facts = std::move(part.facts);
  return columns.checked(&mpi2dd::make_process_entries, std::move(rows));
}

std::optional<mpi2dd::directory_entries> entries_of(directory_table_part&& part, column_maker& columns) {
  mpi2dd::directory_rows rows;
  rows.hosts = columns.make<std::uint32_t>(part.hosts);
  rows.executables = columns.make<std::uint32_t>(part.executables);
  rows.pids = columns.make<std::int32_t>(part.pids);
  rows.strings = std::move(part.strings);
  rows.facts = std::move(part.facts);
  rows.stride = std::move(part.stride);
  return columns.checked(&mpi2dd::make_directory_entries, std::move(rows));
}

template <class Entries, class Part>
void give_table(mpi2dd::table_reading<Entries>& into, table_reading_part<Part>&& part, column_maker& columns) {
  if (part.entries) into.entries = entries_of(std::move(*part.entries), columns);
  into.failure = std::move(part.failure);
}

mpi2dd::process_account account_of(account_part&& part, column_maker& columns) {
  using mpi2dd::visit_state;
  const bool can_be =
      part.info
          ? part.state == visit_state::read
          : part.state == visit_state::no_interface ||
                ((part.state == visit_state::unreachable || part.state == visit_state::unreadable) && part.failure);
  if (!can_be) columns.give_up(error_code::bad_format, "the state of a process contradicts the rest of its account");
  mpi2dd::process_account said;
  said.state = part.state;
  said.failure = std::move(part.failure);
  said.info = std::move(part.info);
  give_table(said.processes, std::move(part.processes), columns);
  give_table(said.directories, std::move(part.directories), columns);
  give_table(said.metadirectories, std::move(part.metadirectories), columns);
  said.rereads = part.rereads;
  said.unsettled = part.unsettled;
  said.own_names = std::move(part.own_names);
  return said;
}

}  // namespace

account_part part_of(const mpi2dd::process_account& said) {
  return {said.state,
          said.failure,
          said.info,
          part_of(said.processes),
          part_of(said.directories),
          part_of(said.metadirectories),
          said.rereads,
          said.unsettled,
          said.own_names};
}

mpi2dd::process_account account_maker::make(account_part part) {
  column_maker columns(left_);
  mpi2dd::process_account made = account_of(std::move(part), columns);
  if (!columns.why()) return made;
  mpi2dd::process_account none;
  none.failure = error{*columns.why()}.while_doing("the account of its node's agent cannot be used");
  return none;
}

}  // namespace mpiacq::agents

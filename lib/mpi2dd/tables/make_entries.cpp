// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Makes tables from values that were read elsewhere. The users of a table trust its numbers, so this file checks them.
#include <algorithm>
#include <memory>
#include <utility>

#include "errors/try.hpp"
#include "tables/table_layouts.hpp"

namespace mpiacq::mpi2dd {

namespace {

error wrong(const char* why) {
  return {error_code::bad_format, std::string("a table that was read elsewhere has ") + why};
}

template <class T>
column<T> column_of(const std::vector<T>& values) {
  column<T> made;
  std::copy(values.begin(), values.end(), made.extend(values.size()));
  return made;
}

/// The last two numbers mark a missing string and an unreadable one.
bool are_below(const std::vector<std::uint32_t>& numbers, std::size_t count) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [count](std::uint32_t n) { return n < count || n >= UINT32_MAX - 1; });
}

result<void> take_strings(table_strings& into, const std::vector<std::string>& texts) {
  into.take(std::vector<std::string_view>(texts.begin(), texts.end()));
  into.renumber({});
  if (into.size() != texts.size()) return fail(wrong("a string twice"));
  return {};
}

result<void> take_facts(table_facts& into, table_facts&& facts, std::size_t size) {
  const auto is_of_none = [size](const entry_problem& problem) { return problem.entry >= size; };
  if (std::any_of(facts.problems.begin(), facts.problems.end(), is_of_none))
    return fail(wrong("a problem of no entry"));
  into = std::move(facts);
  return {};
}

}  // namespace

result<process_entries> make_process_entries(process_rows rows) {
  const std::size_t size = rows.pids.size();
  for (const auto* numbers : {&rows.hosts, &rows.executables, &rows.worlds, &rows.spawns}) {
    if (numbers->size() != size) return fail(wrong("columns of different lengths"));
    const bool are_spawns = numbers == &rows.spawns;
    if (!are_below(*numbers, are_spawns ? rows.spawn_descriptions.size() : rows.strings.size()))
      return fail(wrong(are_spawns ? "a spawn that is not there" : "a string that is not there"));
  }
  if (rows.ranks.size() != size) return fail(wrong("columns of different lengths"));
  for (const spawn_description& spawn : rows.spawn_descriptions) {
    if (!are_below({spawn.parent_world}, rows.strings.size())) return fail(wrong("a world that is not there"));
  }
  auto made = std::make_unique<process_columns>();
  TRY(take_strings(made->strings, rows.strings));
  TRY(take_facts(made->facts, std::move(rows.facts), size));
  made->hosts = column_of(rows.hosts);
  made->executables = column_of(rows.executables);
  made->worlds = column_of(rows.worlds);
  made->spawns = column_of(rows.spawns);
  made->pids = column_of(rows.pids);
  made->ranks = column_of(rows.ranks);
  made->spawn_descriptions = column_of(rows.spawn_descriptions);
  return table_access::table_of(std::move(made));
}

result<directory_entries> make_directory_entries(directory_rows rows) {
  const std::size_t size = rows.pids.size();
  for (const auto* numbers : {&rows.hosts, &rows.executables}) {
    if (numbers->size() != size) return fail(wrong("columns of different lengths"));
    if (!are_below(*numbers, rows.strings.size())) return fail(wrong("a string that is not there"));
  }
  auto made = std::make_unique<directory_columns>();
  TRY(take_strings(made->strings, rows.strings));
  TRY(take_facts(made->facts, std::move(rows.facts), size));
  made->hosts = column_of(rows.hosts);
  made->executables = column_of(rows.executables);
  made->pids = column_of(rows.pids);
  made->stride = std::move(rows.stride);
  return table_access::table_of(std::move(made));
}

}  // namespace mpiacq::mpi2dd

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "columns/column.hpp"
#include "graph/interned.hpp"
#include "mpiacq/mpi2dd/mpi2dd_graph.hpp"
#include "tables/table_reading.hpp"

namespace mpiacq::mpi2dd {

inline constexpr std::uint32_t none = UINT32_MAX;

struct graph_state {
  // One row for each process.
  column<std::uint32_t> hosts;  // numbers in `strings`, or none
  column<std::uint32_t> executables;
  column<std::uint32_t> worlds;  // numbers in `world_rows`, or none
  column<std::uint32_t> spawns;  // numbers in `spawn_rows`, or none
  column<std::int32_t> pids;
  column<std::int32_t> ranks;
  column<std::uint32_t> mentions;  // entries of process tables
  column<std::uint32_t>
      stated_by;  // the visit whose process table gave the values; none: no rank, or no longer in that table
  column<std::uint8_t> roles;  // `role`s

  interned_strings strings;
  process_index by_name;
  std::vector<visit> visits;
  std::unordered_map<std::uint32_t, std::uint32_t> visit_numbers;  // by process
  std::vector<world> world_rows;
  std::unordered_map<std::uint32_t, std::uint32_t> world_numbers;  // by string
  std::vector<spawn> spawn_rows;
  std::map<std::tuple<std::uint32_t, std::int32_t, std::int32_t>, std::uint32_t> spawn_numbers;
  std::vector<disagreement> disagreements;
  std::size_t disagreement_count = 0;
  std::size_t left_unopened = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> canonical_hosts;  // by the name in a table

  enum role : std::uint8_t { in_proctable = 1, listed_directory = 2, listed_metadirectory = 4, identified = 8 };

  [[nodiscard]] std::size_t size() const { return hosts.size(); }
  [[nodiscard]] bool has(std::uint32_t process, role r) const { return (roles[process] & r) != 0; }
  void give(std::uint32_t process, role r) { roles[process] = static_cast<std::uint8_t>(roles[process] | r); }

  /// The process of this host and pid, added if it is new. A host `none` always adds a new process.
  std::uint32_t process(std::uint32_t host, std::int32_t pid);
  std::uint32_t host_number(std::string_view name, const walk_options& options);
  std::uint32_t world_of(std::string_view id);
  std::uint32_t spawn_of(std::uint32_t parent_world, std::int32_t parent_rank, std::int32_t sequence);
  /// Finds the parents of all spawns.
  void resolve_parents();

 private:
  std::uint32_t append(std::uint32_t host, std::int32_t pid);
};

/// A graph from its state, and the state of a graph.
class graph_access {
 public:
  static graph graph_of(std::unique_ptr<graph_state> state) { return graph(std::move(state)); }
  static graph_state& state_of(graph& of) { return *of.state_; }
};

/// Merges the account of one process into the graph. Calls `found` for each process to open, in the tables' order.
class merging {
 public:
  using found_process = std::function<void(std::uint32_t process)>;
  merging(graph_state& g, const walk_options& options, const found_process& found)
      : g_(g), options_(options), found_(found) {}

  void merge(std::uint32_t visit_number, const table_selection& tables, process_account&& said);

  /// The host of the process whose tables are merged.
  struct own_host {
    std::uint32_t number;
    const std::vector<std::string>& names;  ///< the names that the host has on itself; an empty name means it too

    [[nodiscard]] bool is_called(std::string_view text) const {
      return text.empty() || std::find(names.begin(), names.end(), text) != names.end();
    }
  };

 private:
  // The visit that is merged, by number: a reference would become invalid, because found processes add visits.
  [[nodiscard]] visit& current() { return g_.visits[visit_]; }
  [[nodiscard]] std::uint32_t self() { return index(current().process); }
  [[nodiscard]] own_host host_of_tables() { return {g_.hosts[self()], own_names_}; }

  void follow_meta();
  void merge_processes(table_reading<process_entries>& read);
  void merge_directories(listing visit::*which, table_reading<directory_entries>& read, graph_state::role role);
  void drop_processes(const listing& old);
  void drop_notes(table_kind kind);
  void state_process(std::uint32_t p, std::uint32_t entry, std::uint32_t world, std::uint32_t spawn, std::int32_t rank);
  void state_executable(std::uint32_t p, table_kind kind, std::uint32_t entry, std::uint32_t executable);
  void note(std::uint32_t p, table_kind kind, std::uint32_t entry, table_field field, std::string stands,
            std::string said);
  template <class Entries>
  [[nodiscard]] listing fresh_listing(table_kind kind, const Entries& entries) const;
  [[nodiscard]] bool is_full(listing& into) const;
  [[nodiscard]] std::string world_text(std::uint32_t world) const;
  [[nodiscard]] std::string spawn_text(std::uint32_t spawn) const;
  void judge();

  graph_state& g_;
  const walk_options& options_;
  const found_process& found_;
  std::uint32_t visit_ = 0;
  std::vector<std::string> own_names_;
};

}  // namespace mpiacq::mpi2dd

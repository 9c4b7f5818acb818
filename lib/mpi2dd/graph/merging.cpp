// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "graph/graph_state.hpp"

namespace mpiacq::mpi2dd {

namespace {

/// The graph's numbers for a table's strings. Each string is looked up once.
class translation {
 public:
  explicit translation(std::size_t strings) : known_(strings, unknown) {}
  template <class Ask>
  std::uint32_t operator()(std::uint32_t number, Ask ask) {
    std::uint32_t& known = known_[number];
    if (known == unknown) known = ask(number);
    return known;
  }

 private:
  static constexpr std::uint32_t unknown = UINT32_MAX - 1;
  std::vector<std::uint32_t> known_;
};

/// The names of one table in the graph's numbers.
template <class Entries>
class table_names {
 public:
  table_names(const Entries& entries, graph_state& g, const walk_options& options, merging::own_host own)
      : entries_(entries),
        g_(g),
        options_(options),
        own_(own),
        hosts_(entries.string_count()),
        executables_(entries.string_count()),
        worlds_(entries.string_count()) {}

  /// A null or empty host name means the host of the table's process.
  std::uint32_t host(std::uint32_t number) {
    if (number == unreadable_string) return none;
    if (number == no_string) return own_.number;
    return hosts_(number, [this](std::uint32_t n) {
      const std::string_view text = entries_.string(n);
      return own_.is_called(text) ? own_.number : g_.host_number(text, options_);
    });
  }
  std::uint32_t executable(std::uint32_t number) {
    if (number >= entries_.string_count()) return none;
    return executables_(number, [this](std::uint32_t n) {
      const std::string_view text = entries_.string(n);
      return text.empty() ? none : g_.strings.number(text);
    });
  }
  std::uint32_t world(std::uint32_t number) {
    if (number >= entries_.string_count()) return none;
    return worlds_(number, [this](std::uint32_t n) {
      const std::string_view text = entries_.string(n);
      return text.empty() ? none : g_.world_of(text);
    });
  }

 private:
  const Entries& entries_;
  graph_state& g_;
  const walk_options& options_;
  merging::own_host own_;
  translation hosts_, executables_, worlds_;
};

}  // namespace

void merging::merge(std::uint32_t visit_number, const table_selection& tables, process_account&& said) {
  visit_ = visit_number;
  own_names_ = std::move(said.own_names);
  visit& v = current();
  v.failure = std::move(said.failure);
  v.rereads += said.rereads;
  v.unsettled = said.unsettled;
  if (!said.info) {
    if (v.state != visit_state::read) v.state = said.state;  // an earlier reading stays valid
    return;
  }
  v.state = visit_state::read;
  v.info = std::move(said.info);
  v.warnings = v.info->warnings;
  if (tables.processes) merge_processes(said.processes);
  if (tables.directories) {
    merge_directories(&visit::directories, said.directories, graph_state::listed_directory);
  }
  if (tables.metadirectories) {
    merge_directories(&visit::metadirectories, said.metadirectories, graph_state::listed_metadirectory);
  }
  follow_meta();
  judge();
}

/// "The debugger needs meta_pid and this field to locate a metadirectory from an arbitrarily selected rank process."
void merging::follow_meta() {
  const process_info& info = *current().info;
  current().meta.reset();
  if (!info.has_metadirectory()) return;
  const own_host own = host_of_tables();
  const std::uint32_t host = own.is_called(*info.meta_host) ? own.number : g_.host_number(*info.meta_host, options_);
  const std::uint32_t p = g_.process(host, info.metadirectory_pid());
  if (p == self()) return;  // a process that names itself names no metadirectory
  g_.give(p, graph_state::listed_metadirectory);
  if (info.meta_executable && !info.meta_executable->empty() && g_.executables[p] == none) {
    g_.executables[p] = g_.strings.number(*info.meta_executable);
  }
  current().meta = process_number{p};
  found_(p);
}

template <class Entries>
listing merging::fresh_listing(table_kind kind, const Entries& entries) const {
  const table_facts& facts = entries.facts();
  listing fresh;
  fresh.kind = kind;
  fresh.address = facts.address;
  fresh.claimed = static_cast<std::int32_t>(facts.claimed);
  fresh.problems = facts.problems;
  fresh.problem_count = facts.problem_count;
  fresh.shortfall = facts.shortfall;
  fresh.entries.reserve(entries.size());
  return fresh;
}

bool merging::is_full(listing& into) const {
  const std::uint64_t most = std::min<std::uint64_t>(options_.limits.max_processes, UINT32_MAX - 16);
  if (g_.size() < most) return false;
  into.shortfall = error{error_code::limit,
                         fmt::format("the job has more than {} processes (walk_limits::max_processes): the first {} "
                                     "entries of this {} were taken",
                                     most, into.entries.size(), name(into.kind))};
  return true;
}

void merging::merge_processes(table_reading<process_entries>& read) {
  if (!read.entries) {
    current().processes.failure = std::move(read.failure);
    return;
  }
  drop_processes(current().processes);
  drop_notes(table_kind::processes);
  const process_entries& entries = *read.entries;
  listing fresh = fresh_listing(table_kind::processes, entries);
  table_names names(entries, g_, options_, host_of_tables());
  std::vector<std::uint32_t> spawns;
  for (const spawn_description& s : entries.spawn_descriptions()) {
    spawns.push_back(g_.spawn_of(names.world(s.parent_world), s.parent_rank, s.sequence));
  }
  for (std::uint32_t i = 0; i < entries.size() && !is_full(fresh); ++i) {
    const std::uint32_t p = g_.process(names.host(entries.hosts()[i]), entries.pids()[i]);
    const std::uint32_t spawn = entries.spawns()[i];
    fresh.entries.push_back(process_number{p});
    ++g_.mentions[p];
    state_process(p, i, names.world(entries.worlds()[i]), spawn < spawns.size() ? spawns[spawn] : none,
                  entries.ranks()[i]);
    state_executable(p, table_kind::processes, i, names.executable(entries.executables()[i]));
  }
  current().processes = std::move(fresh);
}

void merging::drop_processes(const listing& old) {
  for (const process_number p : old.entries) {
    --g_.mentions[index(p)];
    if (g_.stated_by[index(p)] == visit_) g_.stated_by[index(p)] = none;
  }
}

void merging::drop_notes(table_kind kind) {
  const process_number from = current().process;
  const auto dropped =
      std::erase_if(g_.disagreements, [&](const disagreement& d) { return d.table_of == from && d.kind == kind; });
  g_.disagreement_count -= dropped;
}

void merging::state_process(std::uint32_t p, std::uint32_t entry, std::uint32_t world, std::uint32_t spawn,
                            std::int32_t rank) {
  if (g_.stated_by[p] != none) {
    const auto disagrees = [&](table_field field, std::string stands, std::string said) {
      note(p, table_kind::processes, entry, field, std::move(stands), std::move(said));
    };
    if (world != none && g_.worlds[p] != world) {
      disagrees(table_field::comm_world_id, world_text(g_.worlds[p]), world_text(world));
    }
    if (g_.spawns[p] != spawn) disagrees(table_field::spawn_desc, spawn_text(g_.spawns[p]), spawn_text(spawn));
    if (g_.ranks[p] != rank) disagrees(table_field::rank, std::to_string(g_.ranks[p]), std::to_string(rank));
    return;
  }
  g_.stated_by[p] = visit_;
  g_.give(p, graph_state::in_proctable);
  g_.ranks[p] = rank;
  g_.spawns[p] = spawn;
  if (g_.worlds[p] != world) {
    if (g_.worlds[p] != none) --g_.world_rows[g_.worlds[p]].processes;
    if (world != none) ++g_.world_rows[world].processes;
    g_.worlds[p] = world;
  }
  if (world == none || spawn == none) return;
  std::optional<spawn_number>& made_by = g_.world_rows[world].spawn;
  if (!made_by) made_by = spawn_number{spawn};
}

void merging::state_executable(std::uint32_t p, table_kind kind, std::uint32_t entry, std::uint32_t executable) {
  std::uint32_t& stands = g_.executables[p];
  if (executable == none || stands == executable) return;
  if (stands != none) {
    return note(p, kind, entry, table_field::executable_name, std::string{g_.strings[stands]},
                std::string{g_.strings[executable]});
  }
  stands = executable;
}

void merging::note(std::uint32_t p, table_kind kind, std::uint32_t entry, table_field field, std::string stands,
                   std::string said) {
  ++g_.disagreement_count;
  if (g_.disagreements.size() >= options_.limits.max_disagreements) return;
  g_.disagreements.push_back(
      {process_number{p}, current().process, kind, entry, field, std::move(stands), std::move(said)});
}

std::string merging::world_text(std::uint32_t world) const {
  return world == none ? std::string{} : std::string{g_.world_rows[world].id};
}

std::string merging::spawn_text(std::uint32_t number) const {
  if (number == none) return {};
  const spawn& s = g_.spawn_rows[number];
  return fmt::format("{}:{}:{}", s.parent_world ? world_text(index(*s.parent_world)) : "?", s.parent_rank, s.sequence);
}

void merging::merge_directories(listing visit::*which, table_reading<directory_entries>& read, graph_state::role role) {
  const table_kind kind = (current().*which).kind;
  if (!read.entries) {
    (current().*which).failure = std::move(read.failure);
    return;
  }
  drop_notes(kind);
  const directory_entries& entries = *read.entries;
  listing fresh = fresh_listing(kind, entries);
  if (entries.size() > 0) fresh.stride = entries.stride();
  table_names names(entries, g_, options_, host_of_tables());
  for (std::uint32_t i = 0; i < entries.size() && !is_full(fresh); ++i) {
    const std::uint32_t p = g_.process(names.host(entries.hosts()[i]), entries.pids()[i]);
    fresh.entries.push_back(process_number{p});
    state_executable(p, kind, i, names.executable(entries.executables()[i]));
    if (p == self()) {
      fresh.lists_itself = true;
    } else {
      g_.give(p, role);
    }
  }
  current().*which = std::move(fresh);
  for (std::size_t i = 0; i < (current().*which).entries.size(); ++i) {
    const std::uint32_t p = index((current().*which).entries[i]);
    if (p != self()) found_(p);
  }
}

/// Compares the flags of a process with its tables.
void merging::judge() {
  visit& v = current();
  const auto warn = [&](std::string sentence) {
    v.warnings.push_back(error{error_code::bad_format, std::move(sentence)}.at(v.info->address));
  };
  if (!v.processes.entries.empty() && !v.has(mpi_flag::i_am_dir)) {
    warn(fmt::format("its proctable has entries, but {} is not set", name(mpi_flag::i_am_dir)));
  }
  if ((!v.directories.entries.empty() || !v.metadirectories.entries.empty()) && !v.has(mpi_flag::i_am_metadir)) {
    warn(fmt::format("it has a table of directories or metadirectories, but {} is not set",
                     name(mpi_flag::i_am_metadir)));
  }
  for (const listing* l : {&v.directories, &v.metadirectories}) {
    if (l->lists_itself) warn(fmt::format("its {} lists the process itself: the entry is ignored", name(l->kind)));
  }
  if (v.unsettled) {
    warn(fmt::format("its tables changed each of the {} times that they were read: the last reading stands",
                     options_.limits.max_rereads + 1));
  }
  const bool leads_nowhere = !v.meta && v.processes.entries.empty() && v.directories.entries.empty() &&
                             v.metadirectories.entries.empty() && !v.has(mpi_flag::i_am_metadir);
  if (leads_nowhere) warn("it names no metadirectory and has no tables: from here there is no way to others");
}

}  // namespace mpiacq::mpi2dd

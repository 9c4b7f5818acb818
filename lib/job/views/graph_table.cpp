// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "views/graph_table.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace mpiacq {

namespace {

job_world described(const mpi2dd::graph& job, const mpi2dd::world& world) {
  job_world made{std::string(world.id), {}};
  if (!world.spawn) return made;
  const mpi2dd::spawn& spawn = job.spawns()[index(*world.spawn)];
  made.spawned_by = job_world::origin{{}, rank_number{spawn.parent_rank}, spawn.sequence};
  if (spawn.parent_world) made.spawned_by->world = job.worlds()[index(*spawn.parent_world)].id;
  return made;
}

/// MPI2DD_PROCDESC.
structure_layout descriptor_layout(std::size_t pointer_size, std::string module_path) {
  structure_layout layout;
  layout.name = "MPI2DD_PROCDESC";
  layout.size = 4 * pointer_size + 8;
  layout.members = {{"host_name", 0, pointer_size, true, false},
                    {"executable_name", pointer_size, pointer_size, true, false},
                    {"spawn_desc", 2 * pointer_size, pointer_size, true, false},
                    {"comm_world_id", 3 * pointer_size, pointer_size, true, false},
                    {"pid", 4 * pointer_size, 4, false, true},
                    {"rank", 4 * pointer_size + 4, 4, false, true}};
  layout.source = layout_source::fixed;
  layout.module_path = std::move(module_path);
  return layout;
}

/// A row of the table, and the number that this program uses for its process.
struct listed_rank {
  table_row row;
  process_id here;
};

}  // namespace

void graph_tables::number_worlds(const mpi2dd::graph& job) {
  const auto worlds = job.worlds();
  const std::size_t known = numbers_.size();
  numbers_.resize(worlds.size(), 0);
  for (const bool spawned : {false, true}) {
    for (std::size_t w = known; w < worlds.size(); ++w) {
      if (worlds[w].spawn.has_value() != spawned) continue;
      numbers_[w] = static_cast<std::uint32_t>(order_.size());
      order_.push_back(mpi2dd::world_number{static_cast<std::uint32_t>(w)});
    }
  }
}

process_table graph_tables::make(const mpi2dd::graph& job, std::size_t pointer_size, std::string module_path,
                                 const std::function<process_id(mpi2dd::process_number)>& published) {
  number_worlds(job);
  std::vector<listed_rank> ranks;
  for (std::uint32_t i = 0; i < job.process_count(); ++i) {
    const mpi2dd::process_number p{i};
    if (!job.is_rank(p) || job.mentions(p) == 0) continue;
    const auto world = job.world_of(p);
    const process_id pid = published ? published(p) : job.pid(p);
    const auto number = world ? numbers_[index(*world)] : rank_names::no_world;
    ranks.push_back({{job.host(p), job.executable(p), pid, number, rank_number{*job.rank(p)}}, job.pid(p)});
  }
  std::stable_sort(ranks.begin(), ranks.end(), [](const listed_rank& a, const listed_rank& b) {
    return std::pair{a.row.world, a.row.rank} < std::pair{b.row.world, b.row.rank};
  });
  std::vector<job_world> worlds;
  for (const mpi2dd::world_number w : order_) worlds.push_back(described(job, job.worlds()[index(w)]));
  std::vector<table_row> rows;
  std::vector<process_id> pids_here;
  for (listed_rank& one : ranks) {
    rows.push_back(one.row);
    pids_here.push_back(one.here);
  }
  auto made = make_process_table(rows, std::move(worlds), descriptor_layout(pointer_size, std::move(module_path)));
  return published ? made.with_pids(std::move(pids_here)) : std::move(made);
}

}  // namespace mpiacq

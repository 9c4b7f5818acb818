// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "graph/graph_state.hpp"

namespace mpiacq::mpi2dd {

std::string_view name(table_kind kind) {
  constexpr std::array<std::string_view, 3> names = {"proctable", "directory_table", "metadirectory_table"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view name(visit_state state) {
  constexpr std::array<std::string_view, 6> names = {"waiting",      "read",       "unreachable",
                                                     "no-interface", "unreadable", "beyond-limit"};
  return names[static_cast<std::size_t>(state)];
}

graph::graph() : state_(std::make_unique<graph_state>()) {}
graph::graph(std::unique_ptr<graph_state> s) : state_(std::move(s)) {}
graph::~graph() = default;
graph::graph(graph&&) noexcept = default;
graph& graph::operator=(graph&&) noexcept = default;

std::size_t graph::process_count() const {
  return state_->size();
}

std::optional<process_number> graph::find(std::string_view host, process_id pid) const {
  const auto host_number = state_->strings.find(host);
  if (!host_number || pid.value() <= 0 || pid.value() > INT32_MAX) return std::nullopt;
  const auto found =
      state_->by_name.find(state_->hosts, state_->pids, *host_number, static_cast<std::int32_t>(pid.value()));
  return found ? std::optional{process_number{*found}} : std::nullopt;
}

namespace {
template <class Number>
std::optional<Number> numbered(std::uint32_t value) {
  return value == none ? std::nullopt : std::optional{Number{value}};
}
}  // namespace

std::optional<std::string_view> graph::host(process_number p) const {
  const std::uint32_t number = state_->hosts[index(p)];
  return number == none ? std::nullopt : std::optional{state_->strings[number]};
}
std::optional<std::string_view> graph::executable(process_number p) const {
  const std::uint32_t number = state_->executables[index(p)];
  return number == none ? std::nullopt : std::optional{state_->strings[number]};
}
process_id graph::pid(process_number p) const {
  return process_id{state_->pids[index(p)]};
}
bool graph::is_identified(process_number p) const {
  return state_->has(index(p), graph_state::identified);
}
bool graph::is_rank(process_number p) const {
  return state_->has(index(p), graph_state::in_proctable);
}
std::optional<std::int32_t> graph::rank(process_number p) const {
  return is_rank(p) ? std::optional{state_->ranks[index(p)]} : std::nullopt;
}
std::optional<world_number> graph::world_of(process_number p) const {
  return numbered<world_number>(state_->worlds[index(p)]);
}
std::optional<spawn_number> graph::spawn_of(process_number p) const {
  return numbered<spawn_number>(state_->spawns[index(p)]);
}
std::size_t graph::mentions(process_number p) const {
  return state_->mentions[index(p)];
}
bool graph::is_listed_as_directory(process_number p) const {
  return state_->has(index(p), graph_state::listed_directory);
}
bool graph::is_listed_as_metadirectory(process_number p) const {
  return state_->has(index(p), graph_state::listed_metadirectory);
}

std::span<const visit> graph::visits() const {
  return state_->visits;
}
const visit* graph::visit_of(process_number p) const {
  const auto found = state_->visit_numbers.find(index(p));
  return found == state_->visit_numbers.end() ? nullptr : &state_->visits[found->second];
}
std::size_t graph::left_unopened() const {
  return state_->left_unopened;
}

std::span<const world> graph::worlds() const {
  return state_->world_rows;
}
std::optional<world_number> graph::find_world(std::string_view id) const {
  const auto text = state_->strings.find(id);
  if (!text) return std::nullopt;
  const auto found = state_->world_numbers.find(*text);
  return found == state_->world_numbers.end() ? std::nullopt : std::optional{world_number{found->second}};
}
std::vector<process_number> graph::members(world_number w) const {
  std::vector<process_number> found;
  found.reserve(state_->world_rows[index(w)].processes);
  for (std::uint32_t p = 0; p < state_->size(); ++p) {
    if (state_->worlds[p] == index(w)) found.push_back(process_number{p});
  }
  std::ranges::stable_sort(found, {}, [this](process_number p) { return state_->ranks[index(p)]; });
  return found;
}
std::span<const spawn> graph::spawns() const {
  return state_->spawn_rows;
}
std::span<const disagreement> graph::disagreements() const {
  return state_->disagreements;
}
std::size_t graph::disagreement_count() const {
  return state_->disagreement_count;
}

}  // namespace mpiacq::mpi2dd

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "views/tracked_graph.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "proc/pid_namespace.hpp"
#include "proc/process_facts.hpp"

namespace mpiacq {

namespace {

using mpi2dd::table_selection;

bool any(const table_selection& tables) {
  return tables.processes || tables.directories || tables.metadirectories;
}
table_selection both(const table_selection& a, const table_selection& b) {
  return {a.processes || b.processes, a.directories || b.directories, a.metadirectories || b.metadirectories};
}

/// Who stands in a table, however its entries are numbered.
std::set<std::pair<std::string_view, std::int64_t>> processes_of(const process_table& table) {
  std::set<std::pair<std::string_view, std::int64_t>> all;
  for (const entry_index entry : table.entries()) {
    all.emplace(table.host_name(entry).value_or(""), table.pid(entry).value());
  }
  return all;
}

table_change change_between(const process_table* before, const process_table& now) {
  table_change change;
  const auto known = before == nullptr ? decltype(processes_of(now)){} : processes_of(*before);
  for (const entry_index entry : now.entries()) {
    if (!known.contains({now.host_name(entry).value_or(""), now.pid(entry).value()})) change.came.push_back(entry);
  }
  change.left = known.size() + change.came.size() - std::min(known.size() + change.came.size(), now.size());
  return change;
}

void add_problems(const mpi2dd::listing& listing, const std::string& who, std::vector<error>& problems) {
  const auto add = [&](const error& what) {
    problems.push_back(error{what}.while_doing(fmt::format("{} of {}", name(listing.kind), who)));
  };
  if (listing.failure) add(*listing.failure);
  if (listing.shortfall) add(*listing.shortfall);
}

}  // namespace

tracked_graph::tracked_graph(process_id named, const table_limits& limits, const debug_file_search& search,
                             mpi2dd::elsewhere_reader elsewhere)
    : targets_(local_targets::around(named, search)), limits_(limits), elsewhere_(std::move(elsewhere)) {}

mpi2dd::walk_options tracked_graph::options() const {
  mpi2dd::walk_options options;
  options.limits.table = limits_;
  options.read_elsewhere = elsewhere_;
  return targets_.options(std::move(options));
}

result<table_change> tracked_graph::walk_from(process_id process) {
  auto walked = TRY(mpi2dd::walk(targets_.start(process), targets_.opener(), options()));
  graph_ = std::move(walked);
  const auto first = targets_.open(targets_.host(), process, {});
  if (first) pointer_size_ = (*first)->as_target().abi.pointer_size;
  return make_table();
}

result<table_change> tracked_graph::reread(process_id raised_by, const table_selection& tables) {
  if (!graph_) return walk_from(raised_by);
  const auto number = number_of(raised_by);
  if (number && any(tables)) {
    TRY(refresh(*number, tables));
  }
  return make_table();
}

result<table_change> tracked_graph::reread_what_changed(process_id raised_by, const table_selection& tables) {
  if (!graph_) return walk_from(raised_by);
  // What a reading leads to is opened then and there: only what was known before can have changed.
  const std::size_t known = graph_->visits().size();
  for (std::size_t i = 0; i < known; ++i) {
    const mpi2dd::visit& seen = graph_->visits()[i];
    const bool raised = graph_->pid(seen.process) == raised_by && graph_->host(seen.process) == targets_.host();
    auto changed = changed_tables(seen);
    if (raised) changed = changed ? both(tables, *changed) : tables;
    if (!changed) continue;
    TRY(refresh(seen.process, *changed));
  }
  return make_table();
}

/// One that has gone, or cannot be looked at, keeps what was read of it.
std::optional<table_selection> tracked_graph::changed_tables(const mpi2dd::visit& seen) const {
  if (seen.state != mpi2dd::visit_state::read || !seen.info) return std::nullopt;
  const auto opened = targets_.open(graph_->host(seen.process).value_or(""), graph_->pid(seen.process), {});
  if (!opened) return std::nullopt;
  const auto now = mpi2dd::read_info_block((*opened)->as_target(), seen.info->address);
  if (!now) return std::nullopt;
  const auto differs = [](const mpi2dd::listing& was, target_address address, std::int32_t size) {
    return was.address != address || was.claimed != size;
  };
  const table_selection tables{differs(seen.processes, now->proctable, now->proctable_size),
                               differs(seen.directories, now->directory_table, now->directory_size),
                               differs(seen.metadirectories, now->metadirectory_table, now->metadirectory_size)};
  const mpi2dd::info_block& before = seen.info->block;
  const bool other_meta = before.meta_pid != now->meta_pid || before.meta_host_name != now->meta_host_name;
  return any(tables) || other_meta ? std::optional{tables} : std::nullopt;
}

result<void> tracked_graph::refresh(mpi2dd::process_number process, const table_selection& tables) {
  return mpi2dd::refresh(*graph_, process, tables, targets_.opener(), options());
}

std::function<process_id(mpi2dd::process_number)> tracked_graph::published_pids() const {
  const auto first = process_facts::open(graph_->pid(graph_->start()));
  const auto space = first ? inner_namespace_of(*first) : std::nullopt;
  if (!space) return {};
  return [this, space = *space](mpi2dd::process_number number) {
    const process_id here = graph_->pid(number);
    if (graph_->host(number) != targets_.host()) return here;
    const auto process = process_facts::open(here);
    return (process ? pid_in(space, *process) : std::nullopt).value_or(here);
  };
}

table_change tracked_graph::make_table() {
  const mpi2dd::visit& first = graph_->visits().front();
  process_table read = tables_.make(*graph_, pointer_size_, std::string(graph_->executable(first.process).value_or("")),
                                    published_pids());
  read.belongs_to(targets_.user());
  auto made = std::make_shared<const process_table>(std::move(read));
  auto change = change_between(table_.get(), *made);
  // A number that was another process's before.
  for (const entry_index entry : change.came) flags_.erase(made->pid(entry));
  table_ = std::move(made);
  return change;
}

std::optional<mpi2dd::process_number> tracked_graph::number_of(process_id process) const {
  return graph_ ? graph_->find(targets_.host(), process) : std::nullopt;
}

const mpi2dd::visit* tracked_graph::visit_of(process_id process) const {
  const auto number = number_of(process);
  return number ? graph_->visit_of(*number) : nullptr;
}

bool tracked_graph::is_rank(process_id process) const {
  const auto number = number_of(process);
  return number && graph_->is_rank(*number) && graph_->mentions(*number) != 0;
}

std::vector<tracked_graph::member> tracked_graph::members_here() const {
  std::vector<member> all;
  for (std::uint32_t i = 0; graph_ && i < graph_->process_count(); ++i) {
    const mpi2dd::process_number p{i};
    if (!graph_->is_identified(p) || graph_->host(p) != targets_.host()) continue;
    const mpi2dd::visit* seen = graph_->visit_of(p);
    const bool is_rank = graph_->is_rank(p) && graph_->mentions(p) != 0;
    if (!is_rank && (seen == nullptr || seen->state != mpi2dd::visit_state::read)) continue;
    all.push_back(
        {graph_->pid(p), std::string(graph_->executable(p).value_or("")), is_rank, graph_->rank(p).value_or(0)});
  }
  return all;
}

rank_origin tracked_graph::origin_of(std::string_view host, process_id rank) const {
  const auto process = graph_ ? graph_->find(targets_.canonical_host(host), rank) : std::nullopt;
  const auto world = process ? graph_->world_of(*process) : std::nullopt;
  const auto made_by = world ? graph_->worlds()[index(*world)].spawn : std::nullopt;
  if (!made_by) return {};
  const auto parent = graph_->spawns()[index(*made_by)].parent;
  const bool is_here = parent && graph_->host(*parent) == targets_.host();
  return {true, is_here ? std::optional{graph_->pid(*parent)} : std::nullopt};
}

mpi2dd::flag_set<mpi2dd::mpi_flag> tracked_graph::flags_of(process_id process) {
  if (const auto known = flags_.find(process); known != flags_.end()) return known->second;
  const auto opened = targets_.open(targets_.host(), process, {});
  if (!opened) return {};
  const auto info = mpi2dd::find_info((*opened)->as_target());
  if (!info || !*info) return {};
  const auto block = mpi2dd::read_info_block((*opened)->as_target(), (*info)->address());
  if (!block) return {};
  return flags_.emplace(process, block->mpi_flags).first->second;
}

bool tracked_graph::is_starter_before_start(process_id process) const {
  const mpi2dd::visit* seen = visit_of(process);
  return seen != nullptr && seen->is_starter() && seen->info->block.state == mpi2dd::debug_state::none;
}

std::vector<process_abort> tracked_graph::aborts_here() {
  std::vector<process_abort> all;
  for (const member& one : members_here()) {
    const auto opened = targets_.open(targets_.host(), one.pid, one.executable);
    if (!opened) continue;
    auto info = mpi2dd::read_info((*opened)->as_target());
    if (!info || !*info || (*info)->block.state != mpi2dd::debug_state::abort) continue;
    all.push_back({one.pid, std::move((*info)->abort_reason)});
  }
  return all;
}

std::vector<error> tracked_graph::take_problems() {
  std::vector<error> problems;
  for (const mpi2dd::visit& seen : graph_ ? graph_->visits() : std::span<const mpi2dd::visit>{}) {
    const std::string who =
        fmt::format("process {} of {}", graph_->pid(seen.process).value(), graph_->host(seen.process).value_or("?"));
    // A directory that has ended is what the graph says it is.
    const bool is_gone =
        seen.failure && (seen.failure->code == error_code::process_gone || seen.failure->code == error_code::not_found);
    if (seen.failure && !is_gone) problems.push_back(error{*seen.failure}.while_doing("reading the tables of " + who));
    for (const auto* listing : {&seen.processes, &seen.directories, &seen.metadirectories}) {
      if (!is_gone) add_problems(*listing, who, problems);
    }
    for (const error& warning : seen.warnings) problems.push_back(error{warning}.while_doing(who));
    for (const error& warning : seen.info ? seen.info->warnings : std::vector<error>{}) {
      problems.push_back(error{warning}.while_doing(who));
    }
  }
  std::erase_if(problems, [&](const error& problem) { return !told_.insert(problem.message).second; });
  return problems;
}

}  // namespace mpiacq

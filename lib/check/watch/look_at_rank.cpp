// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "watch/look_at_rank.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <sys/stat.h>

#include "launcher_variables.hpp"
#include "proc/process_state.hpp"
#include "text/file_name.hpp"
#include "watch/look_at_starter.hpp"
#include "watch/waiting_process.hpp"

namespace mpiacq::check {

namespace {

bool is_stopped(const process_stat& stat) {
  return stat.run() == run_state::stopped || stat.run() == run_state::traced;
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace

std::optional<bool> names_executable_of(const process_facts& process, process_id starter, std::string_view name) {
  const process_id pid = process.pid();
  const std::string runs = process.executable().value_or("");
  struct stat running {};
  if (runs.empty() || ::stat(fmt::format("/proc/{}/exe", pid.value()).c_str(), &running) != 0) return std::nullopt;
  // A name without a folder was searched in a PATH that may differ from this process's.
  if (name.find('/') == std::string_view::npos) return base::file_name_of(runs) == name;
  const std::string path(name);
  const std::array<std::string, 3> places =
      path.starts_with('/') ? std::array<std::string, 3>{path, fmt::format("/proc/{}/root{}", pid.value(), path), ""}
                            : std::array<std::string, 3>{fmt::format("/proc/{}/cwd/{}", pid.value(), path),
                                                         fmt::format("/proc/{}/cwd/{}", starter.value(), path), path};
  bool found_one = false;
  for (const std::string& place : places) {
    struct stat named {};
    if (place.empty() || ::stat(place.c_str(), &named) != 0) continue;
    found_one = true;
    if (same_file(named, running) || file_text(place, 2).starts_with("#!")) return true;
  }
  // A file that does not exist may have been replaced or removed since.
  return found_one ? std::optional(false) : std::optional(base::file_name_of(runs) == base::file_name_of(path));
}

rank_watch::rank_watch(std::size_t rank, process_id pid, bool is_starter, debug_file_search search,
                       std::optional<user_id> user)
    : search_(std::move(search)), memory_(pid, user) {
  // A server would receive one request for each process.
  search_.debuginfod = false;
  seen.rank = rank;
  seen.pid = pid;
  seen.is_starter = is_starter;
}

bool rank_watch::alive() const {
  const auto stat = stat_of(seen.pid);
  return stat && !stat->has_ended();
}

bool rank_watch::stopped() const {
  const auto stat = stat_of(seen.pid);
  return stat && is_stopped(*stat);
}

/// Reads the process again until its libraries are mapped: a process at its first instruction has none yet.
bool rank_watch::open_symbols() {
  if (symbols_ && landmarks_ && (!landmarks_->mpi_init.empty() || symbols_->modules().size() > 1)) return true;
  auto opened = process_symbols::open(seen.pid, memory_, search_);
  if (!opened) return false;
  symbols_ = std::move(*opened);
  landmarks_ = landmarks_of(*symbols_, seen.pid);
  return true;
}

place rank_watch::look() {
  const auto stat = stat_of(seen.pid);
  const auto rests = rests_at(seen.pid);
  const target_address stack_begin{stat ? stat->stack_begin : 0};
  if (!rests || stack_begin.is_null()) return place::unknown;
  // The stack is empty, so no instruction has run.
  if (rests->stack == stack_begin) return place::before_main;
  if (!open_symbols()) return place::unknown;
  const auto calls = calls_on_stack(memory_, symbols_->abi(), rests->stack, stack_begin, *landmarks_);
  // The process may have run during the reading.
  const auto still = rests_at(seen.pid);
  if (!calls || !still || still->stack != rests->stack) return place::unknown;
  if (calls->mpi_init) return place::in_mpi_init;
  if (landmarks_->main.empty()) return place::unknown;
  if (!calls->main) return place::before_main;
  return landmarks_->mpi_init.empty() ? place::no_mpi : place::past_init;
}

void rank_watch::describe(std::optional<std::string_view> executable_name, process_id starter,
                          std::string_view starters_environment) {
  const auto facts = process_facts::open(seen.pid);
  seen.alive = facts && !facts->stat().has_ended();
  if (!seen.alive) return;
  seen.stopped = is_stopped(facts->stat());
  seen.executable = facts->executable().value_or("");
  if (executable_name) seen.runs_what_it_should = names_executable_of(*facts, starter, *executable_name);
  describe_environment(*facts, starters_environment);
  if (open_symbols()) describe_symbols();
}

void rank_watch::describe_environment(const process_facts& own, std::string_view starters) {
  const auto told = decode_launcher_variables(own.environment().value_or(""), starters);
  const auto with_rank = [](const rank_variable& one) { return one.rank.has_value(); };
  const auto first = std::find_if(told.ranks.begin(), told.ranks.end(), with_rank);
  if (first == told.ranks.end()) return;
  seen.own_rank = first->rank;
  seen.own_rank_variable = first->name;
  seen.own_world_size = first->world_size;
}

void rank_watch::describe_symbols() {
  constexpr std::array<std::string_view, 4> names = {"MPIR_debug_gate", "MPIR_dll_name", "MPIR_i_am_starter",
                                                     "MPIR_I_am_starter"};
  symbol_scope scope{.loaded_only = true};
  auto found = symbols_->look_up(names, scope);
  if (!found) return;
  // Symbols that are not exported are searched in the executable only, not in the file of each library.
  scope = {.only_in = symbols_->modules().front().get()};
  if (auto more = symbols_->look_up(names, scope)) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!(*found)[i]) (*found)[i] = std::move((*more)[i]);
    }
  }
  gate_ = (*found)[0];
  if (gate_) {
    seen.gate = as_seen(*symbols_, *gate_, nullptr);
    if (auto value = read_integer(memory_, symbols_->abi(), *gate_)) seen.gate_value = *value;
  }
  if (const auto& library = (*found)[1]) {
    seen.queue_library = as_seen(*symbols_, *library, nullptr);
    if (auto text = read_c_string(memory_, library->address(), library->size == 0 ? 4096 : library->size);
        text && !text->empty()) {
      seen.queue_library_name = std::move(*text);
    }
  }
  // The symbols of a process are unknown before its libraries are mapped.
  if (symbols_->modules().size() > 1 || (*found)[2] || (*found)[3]) {
    seen.defines_i_am_starter = (*found)[2].has_value() || (*found)[3].has_value();
  }
}

void rank_watch::describe_late() {
  if (!seen.defines_i_am_starter && open_symbols()) describe_symbols();
}

bool rank_watch::open_gate() {
  if (!gate_) return false;
  std::vector<std::byte> one(gate_->size == 0 || gate_->size > 8 ? symbols_->abi().int_size : gate_->size);
  encode_integer(1, symbols_->abi().order, one);
  return memory_.write(gate_->address(), one).has_value();
}

}  // namespace mpiacq::check

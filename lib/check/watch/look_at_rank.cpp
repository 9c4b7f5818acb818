// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "watch/look_at_rank.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <sys/stat.h>

#include "watch/look_at_starter.hpp"
#include "watch/waiting_process.hpp"

namespace mpiacq::check {

namespace {

/// What launchers tell a process of its place, each launcher in its own words.
struct rank_variables {
  const char* rank;
  const char* size;
};
constexpr std::array<rank_variables, 4> launchers = {{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                      {"PMIX_RANK", nullptr},
                                                      {"PMI_RANK", "PMI_SIZE"},
                                                      {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}}};

std::optional<std::int64_t> number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::optional<bool> names_executable_of(process_id pid, process_id starter, std::string_view name) {
  const std::string runs = executable_of(pid);
  struct stat running {};
  if (runs.empty() || ::stat(fmt::format("/proc/{}/exe", pid.value()).c_str(), &running) != 0) return std::nullopt;
  // Without a folder it was looked up in a PATH that need not be ours.
  if (name.find('/') == std::string_view::npos) return last_part(runs) == name;
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
  // A file that is nowhere may have been replaced or removed since.
  return found_one ? std::optional(false) : std::optional(last_part(runs) == last_part(path));
}

rank_watch::rank_watch(std::size_t rank, process_id pid, bool is_starter, debug_file_search search,
                       std::optional<user_id> user)
    : search_(std::move(search)), memory_(pid, user) {
  // A server would be asked once for each process.
  search_.debuginfod = false;
  seen.rank = rank;
  seen.pid = pid;
  seen.is_starter = is_starter;
}

bool rank_watch::alive() const {
  const auto state = state_of(seen.pid);
  return state && state->letter != 'Z' && state->letter != 'X';
}

bool rank_watch::stopped() const {
  const auto state = state_of(seen.pid);
  return state && (state->letter == 'T' || state->letter == 't');
}

/// Looked at anew until its libraries are there: a process that stands at its first instruction has none yet.
bool rank_watch::open_symbols() {
  if (symbols_ && landmarks_ && (!landmarks_->mpi_init.empty() || symbols_->modules().size() > 1)) return true;
  auto opened = process_symbols::open(seen.pid, memory_, search_);
  if (!opened) return false;
  symbols_ = std::move(*opened);
  landmarks_ = landmarks_of(*symbols_, seen.pid);
  return true;
}

place rank_watch::look() {
  const auto state = state_of(seen.pid);
  const auto rests = rests_at(seen.pid);
  if (!state || !rests || state->stack_begins.is_null()) return place::unknown;
  // Nothing has been put on its stack: not one instruction has run.
  if (rests->stack == state->stack_begins) return place::before_main;
  if (!open_symbols()) return place::unknown;
  const auto calls = calls_on_stack(memory_, symbols_->abi(), rests->stack, state->stack_begins, *landmarks_);
  // It may have run on while we read.
  const auto still = rests_at(seen.pid);
  if (!calls || !still || still->stack != rests->stack) return place::unknown;
  if (calls->mpi_init) return place::in_mpi_init;
  if (landmarks_->main.empty()) return place::unknown;
  if (!calls->main) return place::before_main;
  return landmarks_->mpi_init.empty() ? place::no_mpi : place::past_init;
}

void rank_watch::describe(std::optional<std::string_view> executable_name, process_id starter,
                          const std::map<std::string, std::string>& starters_environment) {
  seen.alive = alive();
  if (!seen.alive) return;
  seen.stopped = stopped();
  seen.executable = executable_of(seen.pid);
  if (executable_name) seen.runs_what_it_should = names_executable_of(seen.pid, starter, *executable_name);
  describe_environment(starters_environment);
  if (open_symbols()) describe_symbols();
}

/// A variable that the starter has too is the environment's that it was started in: the whole job may be a step of
/// another.
void rank_watch::describe_environment(const std::map<std::string, std::string>& starters) {
  const auto own = environment_of(seen.pid);
  const auto value = [&](const char* name) -> std::optional<std::int64_t> {
    if (name == nullptr || starters.contains(name)) return std::nullopt;
    const auto found = own.find(name);
    return found == own.end() ? std::nullopt : number(found->second);
  };
  for (const rank_variables& launcher : launchers) {
    seen.own_rank = value(launcher.rank);
    if (!seen.own_rank) continue;
    seen.own_rank_variable = launcher.rank;
    seen.own_world_size = value(launcher.size);
    return;
  }
}

void rank_watch::describe_symbols() {
  constexpr std::array<std::string_view, 4> names = {"MPIR_debug_gate", "MPIR_dll_name", "MPIR_i_am_starter",
                                                     "MPIR_I_am_starter"};
  symbol_scope scope{.loaded_only = true};
  auto found = symbols_->look_up(names, scope);
  if (!found) return;
  // What is not exported: in the executable only, not in the file of each of its libraries.
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
  // Before its libraries are mapped it cannot be said what a process defines.
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

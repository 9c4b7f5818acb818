// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "node_processes.hpp"

#include <algorithm>
#include <array>

namespace mpiacq {

namespace {

/// A number has fewer digits. What is longer is no rank, and is kept only for the sentence that says so.
constexpr std::size_t most_of_rank_text = 64;

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_interpreter(std::string_view program) {
  constexpr std::array<std::string_view, 6> interpreters = {"python", "sh", "bash", "dash", "perl", "pypy"};
  return std::any_of(interpreters.begin(), interpreters.end(), [&](std::string_view begins) {
    // "python3.11", but no other program that begins with "sh".
    return program == begins || (program.starts_with(begins) && begins.starts_with("py"));
  });
}

/// The first words: an interpreter's options, and the script or module.
launcher_program program_in_words(std::string_view command_line) {
  constexpr int most_words = 8;
  launcher_program found;
  int words = 0;
  bool is_module = false;
  (void)any_of_strings(command_line, [&](std::string_view word) {
    if (words++ == 0) return false;
    if (is_module) {
      found = launcher_program_called(word);
      return true;
    }
    is_module = word == "-m";
    if (!word.starts_with('-')) found = launcher_program_called(base_name(word));
    return words > most_words || (!word.starts_with('-') && !is_module);
  });
  return found;
}

void bound_texts(launcher_statement& one) {
  one.stated.value.resize(std::min(one.stated.value.size(), most_of_rank_text));
}

}  // namespace

launcher_program launcher_program_of(const process_facts& process) {
  const auto& executable = process.executable();
  if (!executable) {
    const bool is_refused = executable.error().code == error_code::permission;
    return is_refused ? launcher_program_called(process.stat().name) : launcher_program{};
  }
  const std::string_view name = base_name(*executable);
  if (!is_interpreter(name)) return launcher_program_called(name);
  const auto& words = process.command_line();
  return words ? program_in_words(*words) : launcher_program{};
}

node_processes::node_processes(const std::string& proc) : known_(proc) {
  for (const process_id pid : known_.all()) take(pid, proc);
  std::sort(stating_.begin(), stating_.end(), [](const auto& a, const auto& b) { return a.pid < b.pid; });
}

void node_processes::take(process_id pid, const std::string& proc) {
  const auto process = process_facts::open(pid, proc);
  // It has ended since the folder was listed.
  if (!process) return;
  parents_.emplace(pid, process->parent());
  const auto& environment = process->environment();
  if (!environment) {
    if (environment.error().code == error_code::permission) ++refused_;
    return;
  }
  launcher_statements stated = decode_launcher_statements(*environment);
  if (stated.all.empty()) return;
  for (launcher_statement& one : stated.all) bound_texts(one);
  stating_.push_back({pid, process->parent(), process->start_time(), process->user(),
                      process->executable().value_or(""), launcher_program_of(*process), std::move(stated.all),
                      stated.is_spawned});
}

const stating_process* node_processes::stating(process_id pid) const {
  const auto at = std::lower_bound(stating_.begin(), stating_.end(), pid,
                                   [](const stating_process& one, process_id wanted) { return one.pid < wanted; });
  return at != stating_.end() && at->pid == pid ? &*at : nullptr;
}

std::optional<process_id> node_processes::parent_of(process_id pid) const {
  const auto at = parents_.find(pid);
  if (at == parents_.end() || at->second.value() <= 1) return std::nullopt;
  return at->second;
}

launcher_program node_processes::program_of(process_id pid) {
  if (const stating_process* const one = stating(pid)) return one->program;
  const auto [at, is_new] = programs_.try_emplace(pid);
  if (!is_new) return at->second;
  if (const auto facts = known_.find(pid)) at->second = launcher_program_of(*facts);
  return at->second;
}

std::vector<process_id> node_processes::parents() const {
  std::vector<process_id> all;
  all.reserve(parents_.size());
  for (const auto& [child, parent] : parents_) {
    if (parent.value() > 1) all.push_back(parent);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace mpiacq

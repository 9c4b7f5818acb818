// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "proc/known_processes.hpp"

#include <charconv>
#include <filesystem>
#include <utility>

namespace mpiacq {

namespace {
constexpr std::size_t most_generations = 64;
/// Each set of facts holds one file descriptor until it is closed.
constexpr std::size_t most_open = 64;
}  // namespace

std::shared_ptr<const process_facts> known_processes::find(process_id pid) {
  const auto [at, is_new] = known_.try_emplace(pid);
  if (!is_new) return at->second;
  auto opened = process_facts::open(pid, proc_);
  if (!opened) return nullptr;
  if (open_.size() == most_open) {
    for (const auto& facts : std::exchange(open_, {})) facts->close();
  }
  at->second = std::make_shared<process_facts>(std::move(*opened));
  open_.push_back(at->second);
  return at->second;
}

std::vector<process_id> known_processes::ancestors_of(process_id pid) {
  std::vector<process_id> all;
  for (auto facts = find(pid); facts && facts->parent().value() > 1 && all.size() < most_generations;
       facts = find(all.back())) {
    all.push_back(facts->parent());
  }
  return all;
}

std::vector<process_id> known_processes::all() const {
  std::vector<process_id> all;
  std::error_code failure;
  for (std::filesystem::directory_iterator entry(proc_, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    std::int64_t pid = 0;
    const auto [number_end, problem] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (problem == std::errc{} && number_end == name.data() + name.size() && pid > 0) all.emplace_back(pid);
  }
  return all;
}

}  // namespace mpiacq

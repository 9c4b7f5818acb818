// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "modules/running_modules.hpp"

#include <algorithm>

#include "errors/try.hpp"

namespace mpiacq::elf {

running_modules::running_modules(running_program program, memory_reader& memory, const target_files& files,
                                 debug_file_search search)
    : program_(std::move(program)), memory_(memory), files_(files), search_(std::move(search)) {
  modules_.push_back(program_.facts);
  sources_.push_back(symbols_of_program(files_, memory_, program_));
}

result<bool> running_modules::read_list(bool even_if_being_changed) {
  const auto note = [&](error e) -> result<bool> {
    if (concerns_whole_target(e)) return fail(std::move(e));
    problems_.push_back(std::move(e));
    return false;
  };
  auto where = find_r_debug(memory_, program_);
  if (!where) return note(std::move(where).error());
  if (!*where) return false;  // static, or the dynamic linker has not run yet
  auto head = read_link_map_head(memory_, program_.abi, **where);
  if (!head) return note(std::move(head).error());
  if (head->breakpoint) r_brk_ = head->breakpoint;
  if (head->being_changed && !even_if_being_changed) return false;
  auto list = TRY(read_link_map(memory_, program_.abi, *head));
  return take(std::move(list));
}

/// Replaces the old list; modules that are in both lists keep their state.
result<bool> running_modules::take(link_map list) {
  for (error& e : list.problems) {
    const bool reported =
        std::any_of(problems_.begin(), problems_.end(), [&](const error& p) { return p.message == e.message; });
    if (!reported) problems_.push_back(std::move(e));
  }
  std::erase_if(list.entries, [&](const link_map_entry& e) { return e.dynamic == program_.dynamic; });
  if (list.entries == libraries_) return false;

  auto fresh = TRY(modules_of(files_, memory_, program_, list.entries, libraries_));
  std::vector<std::unique_ptr<module_symbols>> sorted;
  sorted.push_back(std::move(sources_.front()));
  for (std::size_t i = 0; i < list.entries.size(); ++i) {
    if (fresh[i] != nullptr) {
      sorted.push_back(std::move(fresh[i]));
      continue;
    }
    const auto old = std::find(libraries_.begin(), libraries_.end(), list.entries[i]);
    sorted.push_back(std::move(sources_[static_cast<std::size_t>(old - libraries_.begin()) + 1]));
  }
  sources_ = std::move(sorted);
  libraries_ = std::move(list.entries);
  modules_.clear();
  for (const auto& source : sources_) modules_.push_back(source->facts());
  return true;
}

}  // namespace mpiacq::elf

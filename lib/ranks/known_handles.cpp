// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "known_handles.hpp"

#include <algorithm>
#include <utility>

namespace mpiacq {

/// Processes map the same files at different addresses, and therefore in a different order.
struct known_handles::ordered_code {
  std::vector<file_part> files;
  std::vector<std::uint64_t> begins;
};

std::optional<known_handles::ordered_code> known_handles::in_order_of_files(std::span<const code_range> code) {
  std::vector<std::pair<file_part, std::uint64_t>> all;
  for (const code_range& one : code) {
    if (one.is_vdso) continue;
    if (one.inode == 0) return std::nullopt;
    all.push_back({{one.device, one.inode, one.offset, one.end.value() - one.begin.value()}, one.begin.value()});
  }
  std::sort(all.begin(), all.end());
  ordered_code made;
  for (const auto& [file, begin] : all) {
    made.files.push_back(file);
    made.begins.push_back(begin);
  }
  return made;
}

std::optional<process_handles> known_handles::find(std::span<const code_range> code) const {
  const auto ordered = in_order_of_files(code);
  const auto known = ordered ? entries_.find(ordered->files) : entries_.end();
  if (known == entries_.end()) return std::nullopt;
  process_handles made = known->second.handles;
  for (const place& one : known->second.objects) {
    made.objects.emplace(ordered->begins[one.mapping] + one.distance, one.name);
  }
  return made;
}

void known_handles::learn(std::span<const code_range> code, const process_handles& handles) {
  const auto ordered = in_order_of_files(code);
  if (!ordered) return;
  entry made{handles, {}};
  made.handles.objects.clear();
  for (const auto& [address, name] : handles.objects) {
    // The data of a module lies behind its code, and in front of the next module.
    std::optional<std::size_t> below;
    for (std::size_t i = 0; i < ordered->begins.size(); ++i) {
      if (ordered->begins[i] <= address && (!below || ordered->begins[i] > ordered->begins[*below])) below = i;
    }
    if (!below) return;
    made.objects.push_back({*below, address - ordered->begins[*below], name});
  }
  entries_.insert_or_assign(ordered->files, std::move(made));
}

}  // namespace mpiacq

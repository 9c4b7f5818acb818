// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/process/loaded_code.hpp"

#include <atomic>
#include <chrono>
#include <compare>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>

#include "code_names/code_mappings.hpp"
#include "code_names/code_ranges.hpp"
#include "errors/try.hpp"
#include "modules/unwind_facts.hpp"

namespace mpiacq {

namespace {

using trusted_clock = std::chrono::steady_clock;

/// After this time, another file may have the same inode number.
constexpr std::chrono::seconds facts_are_trusted{1};
/// The largest number of ranges that are kept: a job has some hundred modules.
constexpr std::size_t most_known = std::size_t{1} << 16;

/// A range of a file that is mapped as code. The vDSO has no file; there is one vDSO for each pointer size.
struct mapped_bytes {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint8_t pointer_size_of_vdso = 0;  ///< 0: it has a file
  friend auto operator<=>(const mapped_bytes&, const mapped_bytes&) = default;
};

mapped_bytes bytes_of(const code_range& range, const target_abi& abi) {
  const std::uint8_t pointer_size_of_vdso = range.is_vdso ? abi.pointer_size : std::uint8_t{0};
  return {range.device, range.inode, range.offset, range.end - range.begin, pointer_size_of_vdso};
}

/// The facts that a process has shown of a range of a file that it maps at `begin`.
struct known_bytes {
  target_address begin;
  target_abi abi;
  std::optional<unwind_module> module{};  ///< empty: the file is no module
  std::shared_ptr<elf::mapped_file> file{};
  std::uint64_t first_page = 0;  ///< where the process maps the file's first bytes; 0 if it does not
  trusted_clock::time_point shown;
};

}  // namespace

struct module_catalogue::state {
  mutable std::shared_mutex lock;
  std::map<mapped_bytes, known_bytes> known;
  std::atomic<std::size_t> whole = 0;
  std::atomic<std::size_t> shared = 0;

  [[nodiscard]] const known_bytes* find(const mapped_bytes& bytes, trusted_clock::time_point now) const {
    const auto found = known.find(bytes);
    return found == known.end() || now - found->second.shown > facts_are_trusted ? nullptr : &found->second;
  }
  [[nodiscard]] std::optional<std::pair<unwind_map, elf::code_mappings>> from_known(
      std::span<const code_range> ranges) const;
  void keep(const loaded_code& code, const elf::code_mappings& mappings);
};

/// All modules of a process with these ranges. Empty: a range is unknown.
std::optional<std::pair<unwind_map, elf::code_mappings>> module_catalogue::state::from_known(
    std::span<const code_range> ranges) const {
  const auto now = trusted_clock::now();
  const std::shared_lock reading{lock};
  std::vector<const known_bytes*> all(ranges.size());
  const known_bytes* first = nullptr;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].is_vdso) continue;
    // Code without a file may have replaced a part of a module.
    if (ranges[i].inode == 0) return std::nullopt;
    all[i] = find(bytes_of(ranges[i], {}), now);
    if (all[i] == nullptr) return std::nullopt;
    if (first == nullptr && all[i]->module) first = all[i];
  }
  if (first == nullptr) return std::nullopt;
  std::pair<unwind_map, elf::code_mappings> made;
  auto& [modules, mappings] = made;
  modules.abi = first->abi;
  modules.modules.reserve(ranges.size());
  mappings.code.reserve(ranges.size());
  mappings.files.reserve(ranges.size());
  mappings.first_pages.reserve(ranges.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const code_range& range = ranges[i];
    const known_bytes* one = range.is_vdso ? find(bytes_of(range, first->abi), now) : all[i];
    if (one == nullptr || (one->module && one->abi != first->abi)) return std::nullopt;
    const std::uint64_t moved = range.begin - one->begin;
    const bool goes_on = i != 0 && ranges[i - 1].device == range.device && ranges[i - 1].inode == range.inode &&
                         ranges[i - 1].is_vdso == range.is_vdso;
    if (!goes_on) {
      mappings.files.push_back(one->file);
      mappings.first_pages.push_back(one->first_page == 0 ? 0 : one->first_page + moved);
    }
    mappings.code.push_back({range.begin.value(), range.end.value(), range.offset, mappings.files.size() - 1});
    if (!one->module) continue;
    unwind_module module = elf::moved(*one->module, moved);
    const bool is_new = modules.modules.empty() || modules.modules.back().begin != module.begin;
    if (is_new) modules.modules.push_back(std::move(module));
  }
  return made;
}

void module_catalogue::state::keep(const loaded_code& code, const elf::code_mappings& mappings) {
  const auto now = trusted_clock::now();
  const std::unique_lock writing{lock};
  for (const code_range& range : code.ranges) {
    if (range.inode == 0 && !range.is_vdso) continue;
    known_bytes one{range.begin, code.modules.abi, {}, {}, 0, now};
    for (const unwind_module& m : code.modules.modules) {
      if (range.begin >= m.begin && range.begin < m.end) one.module = m;
    }
    if (one.module && !elf::can_be_moved(*one.module)) continue;
    for (const elf::code_mapping& m : mappings.code) {
      if (m.begin != range.begin.value() || m.file == elf::code_mapping::no_file) continue;
      one.file = mappings.files[m.file];
      one.first_page = mappings.first_pages[m.file];
    }
    if (one.file == nullptr) continue;
    if (known.size() < most_known) known.insert_or_assign(bytes_of(range, code.modules.abi), std::move(one));
  }
}

module_catalogue::module_catalogue() : state_(std::make_unique<state>()) {}
module_catalogue::~module_catalogue() = default;

result<loaded_code> module_catalogue::learn(process_id process, memory_reader& memory) {
  auto names = std::make_shared<code_map_state>();
  names->pid = process;
  names->memory = &memory;
  loaded_code code;
  auto ranges = TRY(read_code_ranges(process));
  if (auto known = state_->from_known(ranges)) {
    ++state_->shared;
    code.ranges = std::move(ranges);
    code.modules = std::move(known->first);
    names->mappings = std::move(known->second);
    code.names.state_ = std::move(names);
    return code;
  }
  ++state_->whole;
  const auto maps = TRY(read_process_maps(process));
  auto modules = TRY(unwind_modules_in(maps, process, memory));
  code.modules = std::move(modules);
  names->mappings = elf::decode_mappings(maps);
  code.ranges = elf::code_ranges_in(names->mappings);
  state_->keep(code, names->mappings);
  code.names.state_ = std::move(names);
  return code;
}

module_catalogue_counts module_catalogue::counts() const {
  return {state_->whole, state_->shared};
}

}  // namespace mpiacq

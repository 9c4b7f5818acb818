// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tables/process_code.hpp"

#include <algorithm>
#include <cstring>

namespace mpiacq::unwinding {

process_code::process_code(const architecture& machine, shared_tables& tables, std::vector<unwind_module> modules,
                           memory_reader& memory)
    : machine_(machine), tables_(tables), memory_(memory) {
  modules_.reserve(modules.size());
  const auto unknown = std::make_shared<const unwind_file>();
  for (unwind_module& m : modules) {
    modules_.push_back({std::move(m)});
    if (auto& file = modules_.back().facts.file; file == nullptr) file = unknown;
  }
  std::sort(modules_.begin(), modules_.end(),
            [](const loaded_module& a, const loaded_module& b) { return a.facts.begin < b.facts.begin; });
}

process_code::loaded_module* process_code::module_at(target_address pc) {
  const auto behind = std::upper_bound(modules_.begin(), modules_.end(), pc,
                                       [](target_address a, const loaded_module& m) { return a < m.facts.begin; });
  if (behind == modules_.begin()) return nullptr;
  loaded_module& found = *std::prev(behind);
  return pc < found.facts.end ? &found : nullptr;
}

process_code::place process_code::at(target_address pc) {
  place found{module_at(pc), nullptr};
  if (found.home == nullptr || found.home->facts.tables_begin.is_null()) return found;
  if (found.home->table == nullptr) found.home->table = tables_.of(machine_, found.home->facts);
  table_source source{memory_, found.home->facts.tables_begin};
  found.frame = found.home->table->find(source, pc, unkept_);
  if (source.failure) failure_ = std::move(source.failure);
  return found;
}

std::optional<module_table::whole_row> process_code::row_at(const place& found, target_address pc) {
  table_source source{memory_, found.home->facts.tables_begin};
  auto row = found.home->table->row_at(source, *found.frame, pc);
  if (source.failure) failure_ = std::move(source.failure);
  return row;
}

std::optional<std::uint64_t> process_code::table_word(loaded_module& home, target_address address) {
  const std::uint64_t offset = address - home.facts.tables_begin;  // before it: very large
  if (offset >= home.table->bytes().size()) return std::nullopt;
  if (const std::byte* known = home.table->bytes().known_word(offset)) {
    std::uint64_t word = 0;
    std::memcpy(&word, known, sizeof word);
    return word & machine_.mask();
  }
  table_source source{memory_, home.facts.tables_begin};
  const auto word = home.table->bytes().word(source, offset);
  if (source.failure) failure_ = std::move(source.failure);
  return word ? std::optional(*word & machine_.mask()) : std::nullopt;
}

}  // namespace mpiacq::unwinding

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tables/shared_tables.hpp"

namespace mpiacq {

unwind_tables::unwind_tables() : state_(std::make_unique<state>()) {}
unwind_tables::~unwind_tables() = default;

namespace unwinding {

std::shared_ptr<module_table> shared_tables::of(const architecture& machine, const unwind_module& m) {
  if (m.file->identity.empty()) return std::make_shared<module_table>(machine, m);
  // The key contains the positions and the kind of code, so that two modules with one false identity do not share a
  // table, and neither table is read past its end. A missing table has no position, because its address would depend on
  // the load address of the module.
  const auto position = [&](target_address table) {
    return table.is_null() ? std::string("none") : std::to_string(table - m.tables_begin);
  };
  const std::string key = m.file->identity + '/' + std::to_string(machine.word_size) + '/' +
                          std::to_string(m.tables_end - m.tables_begin) + '/' + position(m.eh_frame_hdr) + '/' +
                          std::to_string(m.eh_frame_hdr_size) + '/' + position(m.eh_frame) + '/' +
                          std::to_string(m.eh_frame_size);
  const std::lock_guard lock{adding_};
  auto& table = by_identity_[key];
  if (table == nullptr) table = std::make_shared<module_table>(machine, m);
  return table;
}

}  // namespace unwinding

}  // namespace mpiacq

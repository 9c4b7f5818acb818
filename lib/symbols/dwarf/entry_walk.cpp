// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/entry_walk.hpp"

#include <vector>

#include <dwarf.h>

#include "errors/try.hpp"

namespace mpiacq::debug_info {

result<void> walk_below(const dwarf_data& data, const Dwarf_Die& top,
                        const std::function<result<walk_step>(Dwarf_Die&)>& visit) {
  Dwarf_Die parent = top;
  Dwarf_Die entry;
  std::vector<Dwarf_Die> open;
  TRY(data.take_unit_of(top));
  const int more = dwarf_child(&parent, &entry);
  if (more < 0) return data.broken("going through an entry's children");
  bool here = more == 0;
  while (here || !open.empty()) {
    if (here) {
      auto next = TRY(visit(entry));
      if (next == walk_step::stop) return {};
      Dwarf_Die child;
      if (next == walk_step::into && open.size() < deepest_entry && dwarf_child(&entry, &child) == 0) {
        open.push_back(entry);
        entry = child;
        continue;
      }
    } else {
      entry = open.back();
      open.pop_back();
    }
    here = TRY(next_sibling(data, entry));
  }
  return {};
}

bool is_block(int tag) {
  return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block ||
         tag == DW_TAG_with_stmt || tag == DW_TAG_GNU_call_site || tag == DW_TAG_common_block;
}

}  // namespace mpiacq::debug_info

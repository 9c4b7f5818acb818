// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "arguments/jump_tables.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "arguments/fixed_registers.hpp"

namespace mpiacq::unwinding {

namespace {

constexpr std::size_t most_entries = 4096;  ///< of one table
constexpr std::size_t most_tables = 64;     ///< of one function
/// The places that tables lead to change what is known in front of the jumps, so tables are looked for several times.
constexpr std::size_t most_rounds = 8;
/// Compilers make shallow expressions.
constexpr std::size_t deepest_sum = 16;

/// A value as a number plus a multiple of one other value.
struct linear_value {
  bool in_module = false;  ///< the number is relative to the module
  std::uint64_t number = 0;
  value_id term = unknown_value;  ///< unknown: the value is the number alone
  std::uint64_t scale = 0;
};

class linear_reader {
 public:
  linear_reader(value_graph& values, const value_ranges& ranges) : values_(values), ranges_(ranges) {}

  [[nodiscard]] std::optional<linear_value> read(value_id id, std::size_t depth = 0) {
    const value_node node = values_[id];
    if (id == unknown_value || depth > deepest_sum) return std::nullopt;
    // A value that the code has compared is the index, not one that it was made from.
    if (ranges_.is_limited(id)) return linear_value{.term = id, .scale = 1};
    switch (node.kind) {
      case value_kind::constant:
        return linear_value{.number = node.number};
      case value_kind::code_address:
        return linear_value{.in_module = true, .number = node.number};
      case value_kind::offset:
        return sum(read(node.left, depth + 1), linear_value{.number = node.number});
      case value_kind::sum:
        return sum(read(node.left, depth + 1), read(node.right, depth + 1));
      case value_kind::product:
        for (const auto& [factor, other] : {std::pair{node.left, node.right}, std::pair{node.right, node.left}}) {
          if (values_[factor].kind == value_kind::constant)
            return product(read(other, depth + 1), values_[factor].number);
        }
        break;
      case value_kind::shifted_left:
        if (node.number < 64) return product(read(node.left, depth + 1), std::uint64_t{1} << node.number);
        break;
      default:
        break;
    }
    return linear_value{.term = id, .scale = 1};
  }

 private:
  [[nodiscard]] static std::optional<linear_value> sum(const std::optional<linear_value>& a,
                                                       const std::optional<linear_value>& b) {
    if (!a || !b || (a->in_module && b->in_module)) return std::nullopt;
    if (a->term != unknown_value && b->term != unknown_value && a->term != b->term) return std::nullopt;
    return linear_value{a->in_module || b->in_module, a->number + b->number,
                        a->term != unknown_value ? a->term : b->term, a->scale + b->scale};
  }
  [[nodiscard]] static std::optional<linear_value> product(const std::optional<linear_value>& a, std::uint64_t factor) {
    if (!a || (a->in_module && factor != 1)) return std::nullopt;
    return linear_value{a->in_module, a->number * factor, a->term, a->scale * factor};
  }

  value_graph& values_;
  const value_ranges& ranges_;
};

/// Follows the computed jumps of one function.
class table_search {
 public:
  table_search(code_outline& code, constant_memory& memory, bool is_entered)
      : code_(code), memory_(memory), is_entered_(is_entered) {}

  /// In the last round, no place is added, so all places are taken into account in front of each jump.
  [[nodiscard]] bool run() {
    if (code_.computed_jumps().size() > most_tables) return false;
    for (std::size_t round = 0; round < most_rounds; ++round) {
      if (!find_tables()) return false;
      has_added_ = false;
      for (const jump_table& table : tables_) {
        if (!(table.is_own_base() ? follow_own_base(table) : follow_known_indices(table))) return false;
      }
      if (!has_added_) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] bool find_tables() {
    fixed_.reset();
    tables_.clear();
    begins_.clear();
    for (const std::uint64_t jump : code_.computed_jumps()) {
      const auto table = table_at(jump);
      if (!table) return false;
      tables_.push_back(*table);
      if (table->is_own_base()) begins_.insert(table->begin);
    }
    return true;
  }

  /// The table of a jump. If registers have their values from before a loop, the function says what these are.
  [[nodiscard]] std::optional<jump_table> table_at(std::uint64_t jump) {
    if (auto table = table_with({}, jump)) return table;
    if (is_entered_) return std::nullopt;
    if (!fixed_) fixed_ = registers_with_one_address(code_);
    fixed_registers fixed = *fixed_;
    // A table whose entries are relative to itself cannot be a parameter.
    const auto table = table_with(fixed, jump);
    if (table && table->is_own_base()) return table;
    for (const std::uint8_t number : code_.set().convention.arguments) fixed[number].reset();
    return table_with(fixed, jump);
  }

  [[nodiscard]] std::optional<jump_table> table_with(const fixed_registers& fixed, std::uint64_t jump) {
    const instruction_set& set = code_.set();
    straight_trace trace;
    value_ranges ranges;
    comparison flags;
    const std::uint64_t behind = jump + code_.at(jump)->size;
    const auto path = code_.path_before(jump, behind);
    // Where a long run is cut off, a register may just be changing.
    const bool is_whole = path.size() < code_outline::longest_run;
    for (std::size_t i = 0; is_whole && i < fixed.size(); ++i) {
      if (fixed[i]) trace.set(i, trace.values().code_address(*fixed[i]));
    }
    for (const code_outline::passed& one : path) {
      const cs_insn& instruction = *code_.at(one.address);
      const comparison before = flags;
      flags = set.compare(trace, code_.decoder(), instruction, before);
      if (set.flow(instruction).how == instruction_flow::kind::conditional_jump) {
        const auto largest = set.largest_behind(instruction, one.jumps, before.constant);
        if (largest) ranges.limit(trace.values(), before.value, *largest);
      }
      set.step(trace, code_.decoder(), instruction);
    }
    const value_id target = set.jump_target(trace, *code_.at(jump));
    return jump_table_of(trace.values(), ranges, target, memory_.module_begin());
  }

  /// Reads a table of which it is known which entries are used.
  [[nodiscard]] bool follow_known_indices(const jump_table& table) {
    if (!table.indices || table.indices->high - table.indices->low >= most_entries) return false;
    for (std::uint64_t index = table.indices->low;; ++index) {
      const auto target = target_of(table, index);
      if (!target || !leads_to_instruction(*target)) return false;
      add(*target);
      if (index == table.indices->high) return true;
    }
  }

  /// Reads a table from its beginning until its end is certain.
  [[nodiscard]] bool follow_own_base(const jump_table& table) {
    const std::uint64_t known_end = table.indices ? table.indices->high : most_entries;
    const auto next_table = begins_.upper_bound(table.begin);
    for (std::uint64_t index = 0; index < most_entries; ++index) {
      const std::uint64_t where = table.begin + index * table.entry_size;
      const bool is_end = index > known_end || (next_table != begins_.end() && where >= *next_table) ||
                          !memory_.is_constant(where, table.entry_size);
      if (is_end) return index > 0;
      const auto target = target_of(table, index);
      if (!target) return false;
      if (!leads_to_instruction(*target)) return index > 0;
      add(*target);
    }
    return false;
  }

  /// The offset to which an entry leads. Empty: the entry cannot be read.
  [[nodiscard]] std::optional<std::uint64_t> target_of(const jump_table& table, std::uint64_t index) {
    std::array<std::byte, 8> bytes{};
    const auto entry = std::span{bytes}.first(table.entry_size);
    if (!memory_.read(table.begin + index * table.entry_size, entry)) return std::nullopt;
    const std::uint64_t number = table.is_signed ? static_cast<std::uint64_t>(decode_signed(entry, byte_order::little))
                                                 : decode_unsigned(entry, byte_order::little);
    return table.base ? *table.base + number * table.scale : number - memory_.module_begin();
  }

  /// A place that is never reached may lie at the very end of the module's code.
  [[nodiscard]] bool leads_to_instruction(std::uint64_t target) const {
    if (code_.contains(target)) return code_.is_start(target);
    const bool is_in_code = memory_.is_code(target) || memory_.is_code(target - 1);
    return is_in_code && target % code_.set().alignment == 0;
  }

  void add(std::uint64_t target) {
    if (code_.add_join(target)) has_added_ = true;
    if (!code_.contains(target)) code_.add_exit(target, true);
  }

  code_outline& code_;
  constant_memory& memory_;
  bool is_entered_;
  bool has_added_ = false;
  std::optional<fixed_registers> fixed_;  ///< empty: not needed yet in this round
  std::vector<jump_table> tables_;        ///< one for each jump
  std::set<std::uint64_t> begins_;        ///< of tables whose entries are relative to themselves
};

}  // namespace

bool constant_memory::read(std::uint64_t offset, std::span<std::byte> into) {
  if (failure_ || !is_constant(offset, into.size())) return false;
  memory_range range{module_.begin + offset, into};
  if (auto done = memory_.read_ranges({&range, 1}); !done) {
    failure_ = std::move(done.error());
    return false;
  }
  return range.got == into.size();
}

std::optional<jump_table> jump_table_of(value_graph& values, const value_ranges& ranges, value_id target,
                                        std::uint64_t module_begin) {
  linear_reader reader{values, ranges};
  const auto sum = reader.read(target);
  if (!sum || sum->term == unknown_value) return std::nullopt;
  value_node entry = values[sum->term];
  const bool is_signed = entry.kind == value_kind::sign_extended;
  const std::uint8_t bits = entry.bits;
  if (is_signed) entry = values[entry.left];
  if (entry.kind != value_kind::load || entry.bits != bits) return std::nullopt;
  jump_table table{.entry_size = static_cast<std::uint8_t>(bits / 8U), .is_signed = is_signed, .scale = sum->scale};
  if (sum->in_module) table.base = sum->number;
  const bool is_address = bits == 64 && sum->number == 0 && sum->scale == 1;
  if (!table.base && !is_address) return std::nullopt;
  const auto place = reader.read(entry.left);
  if (!place || place->scale != table.entry_size || place->term == unknown_value) return std::nullopt;
  table.begin = place->in_module ? place->number : place->number - module_begin;
  // No table reaches beyond 4 GiB, so an index whose lower half was compared has an upper half of 0.
  const value_id lower_half = values.zero_extended(place->term, 32);
  table.indices = ranges.of(values, ranges.is_limited(lower_half) ? lower_half : place->term);
  return table;
}

bool follow_jump_tables(code_outline& code, constant_memory& memory, bool is_entered) {
  return table_search{code, memory, is_entered}.run();
}

}  // namespace mpiacq::unwinding

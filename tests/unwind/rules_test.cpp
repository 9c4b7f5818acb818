// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Rows of unwind tables that our evaluator follows, compared with libunwind: the same callers, the same registers.
#include <algorithm>
#include <cstring>

#include <unistd.h>

#include "arch/unwind_arch.hpp"
#include "mpiacq/process/unwind_modules.hpp"
#include "stopped_process.hpp"
#include "walk/stack_walk.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::unwinding;

namespace {

record_address record_of(const process_code::place& place) {
  const target_address begin = place.home->facts.tables_begin;
  const std::uint64_t moved = begin - place.frame->tables_begin;
  return {begin + place.frame->covers.position, place.frame->covers.begin + moved, place.frame->covers.end + moved};
}

struct compared {
  std::size_t by_rule = 0;
  std::size_t by_row = 0;  ///< frames whose rules are not plain
};

/// One step by each evaluator. False: libunwind has reached its end. `row_at` returns all rules for the code at `pc`.
template <class Rules, class Stepper, class RowAt>
bool step_by_both(Rules& rules, Stepper& stepper, const process_code::place& place, target_address pc, RowAt row_at,
                  compared& count) {
  const step_result theirs = stepper.step(record_of(place));
  auto row = row_at(place, pc);
  // At the last instructions of longjmp the stack pointer is in another register. libunwind uses that register for the
  // CFA, although DWARF (6.4.1) allows this only without such a rule.
  const auto is_elsewhere = register_rule::kind::in_register;
  if (row && row->row.registers[arch::native().sp_number].how == is_elsewhere) row.reset();
  if (!place.frame->rule && !row) {
    rules.begin(stepper.registers(), false);
    return theirs == step_result::stepped;
  }
  ++(place.frame->rule ? count.by_rule : count.by_row);
  const step_result ours = place.frame->rule ? rules.step(*place.frame->rule) : rules.step(row->row);
  if (theirs != step_result::stepped) {
    if (place.frame->rule && ours != theirs)
      FAIL("at " << pc.value() << ", libunwind made no step, and the rule made one");
    return false;
  }
  // A million comparisons: Catch2 hears of those that fail.
  const auto registers = rules.registers().by_dwarf_number;
  const bool is_equal = ours == theirs && rules.pc() == stepper.pc() && rules.sp() == stepper.sp() &&
                        registers == stepper.registers().by_dwarf_number;
  if (!is_equal) {
    CAPTURE(pc.value());
    REQUIRE(ours == theirs);
    REQUIRE(rules.pc() == stepper.pc());
    REQUIRE(rules.sp() == stepper.sp());
    REQUIRE(registers == stepper.registers().by_dwarf_number);
  }
  return true;
}

/// Every frame of every thread of a stopped program.
compared compare_stacks(const std::string& build, std::vector<std::string> way) {
  way.insert(way.begin(), stack_program(build));
  CAPTURE(way);
  stopped_process p{way};
  live_memory memory{p.pid()};
  auto map = unwind_modules_of(p.pid(), memory);
  REQUIRE(map.has_value());
  shared_tables tables;
  process_view view{arch::native(), tables, map->modules, memory};
  REQUIRE(view.prepare().has_value());
  compared count;
  for (const thread_registers& thread : p.registers) {
    view.memory().begin(thread.sp, {});
    REQUIRE(view.stepper().begin(thread, false));
    view.rules().begin(thread, false);
    bool by_call = false;
    for (int depth = 0; depth < 10'000; ++depth) {
      const target_address pc = view.stepper().pc();
      CAPTURE(depth, pc.value());
      const target_address instruction = by_call ? pc - 1 : pc;
      const process_code::place place = view.enter(instruction);
      const auto row_at = [&](const auto& at, target_address code) { return view.row_at(at, code); };
      if (place.frame == nullptr) break;
      if (!step_by_both(view.rules(), view.stepper(), place, instruction, row_at, count)) break;
      by_call = !place.frame->covers.signal_frame;
    }
  }
  return count;
}

/// This process's tables, and a memory in which all words differ.
class made_up_stack final : public stepper_view {
 public:
  explicit made_up_stack(std::vector<unwind_module> modules)
      : code_(arch::native(), tables_, std::move(modules), memory_) {}

  [[nodiscard]] process_code::place enter(target_address pc) {
    const process_code::place place = code_.at(pc);
    home_ = place.home;
    return place;
  }
  [[nodiscard]] auto row_at(const process_code::place& place, target_address pc) { return code_.row_at(place, pc); }
  [[nodiscard]] std::optional<std::uint64_t> word(target_address address) override {
    if (address.value() % 64 == 8) return std::nullopt;  // some words are unreadable
    return address.value() * 0x9e3779b97f4a7c15U ^ 0x5555;
  }
  [[nodiscard]] std::optional<std::uint64_t> table_word(target_address address) override {
    return code_.table_word(*home_, address);
  }

 private:
  shared_tables tables_;
  live_memory memory_{process_id{::getpid()}};
  process_code code_;
  process_code::loaded_module* home_ = nullptr;
};

thread_registers made_up_registers(target_address pc) {
  thread_registers r;
  r.count = static_cast<std::uint8_t>(arch::native().register_count);
  for (std::size_t i = 0; i < arch::native().register_count; ++i) r.by_dwarf_number[i] = 0x100000000000 + 0x111110 * i;
  r.sp = target_address{r.by_dwarf_number[arch::native().sp_number]};
  r.pc = pc;
  r.by_dwarf_number[arch::native().pc_number] = pc.value();
  return r;
}

/// The addresses of the functions of one of our own modules, by its search table.
std::vector<target_address> functions_of(const unwind_module& m) {
  std::vector<target_address> begins;
  const auto* header = reinterpret_cast<const unsigned char*>(m.eh_frame_hdr.value());
  if (header == nullptr || header[2] != 0x03 || header[3] != 0x3b) return begins;
  std::uint32_t count = 0;
  std::memcpy(&count, header + 8, sizeof count);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::int32_t distance = 0;
    std::memcpy(&distance, header + 12 + 8 * std::size_t{i}, sizeof distance);
    begins.push_back(m.eh_frame_hdr + static_cast<std::uint64_t>(std::int64_t{distance}));
  }
  return begins;
}

}  // namespace

TEST_CASE("our rules give the frames and registers that libunwind finds") {
  if (!arch::native().has_plain_rows) MPIACQ_SKIP("on this processor, libunwind makes every step");
  compared all;
  const auto compare = [&](const char* build, const std::vector<std::string>& way) {
    const compared one = compare_stacks(build, way);
    all.by_rule += one.by_rule;
    all.by_row += one.by_row;
  };
  for (const char* build : {"optimised", "frame_pointers", "stripped", "static_pie", "no_header", "no_build_id"}) {
    compare(build, {"recursion", "200"});
    compare(build, {"fault", "3"});
    compare(build, {"alternate", "20"});
    compare(build, {"noreturn"});
    compare(build, {"threads", "10"});
  }
  for (const char* way : {"templates", "virtual", "catch", "throw"}) compare("deep", {way});
  CHECK(all.by_rule > 1'500);
  CHECK(all.by_row >= 12);  // two frames that a signal has pushed, in each build
}

TEST_CASE("the rules of all functions of the test's own libraries agree with libunwind") {
  if (!arch::native().has_plain_rows) MPIACQ_SKIP("on this processor, libunwind makes every step");
  constexpr std::size_t most_functions = 600, most_places = 40;
  live_memory memory{process_id{::getpid()}};
  auto map = unwind_modules_of(process_id{::getpid()}, memory);
  REQUIRE(map.has_value());
  made_up_stack view{map->modules};
  auto stepper = frame_stepper::create(view);
  REQUIRE(stepper.has_value());
  rule_stepper rules{arch::native(), view};
  compared count;
  for (const unwind_module& m : map->modules) {
    CAPTURE(m.file->path, m.bias.value());
    const auto begins = functions_of(m);
    const std::size_t stride = begins.size() / most_functions + 1;
    for (std::size_t i = 0; i < begins.size(); i += stride) {
      // Each byte at the beginning, where most rows are, then in growing steps.
      target_address pc = begins[i];
      for (std::size_t n = 0; n < most_places; ++n, pc = pc + 1 + n / 8) {
        const process_code::place place = view.enter(pc);
        if (place.frame == nullptr) break;
        const thread_registers registers = made_up_registers(pc);
        REQUIRE((*stepper)->begin(registers, false));
        rules.begin(registers, false);
        const auto row_at = [&](const auto& at, target_address code) { return view.row_at(at, code); };
        (void)step_by_both(rules, **stepper, place, pc, row_at, count);
      }
    }
  }
  CHECK(count.by_rule > 20'000);
  CHECK(count.by_row > 0);  // stubs of procedure linkage tables
  CHECK(count.by_row < count.by_rule / 10);
}

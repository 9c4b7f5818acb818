// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Any programs of call frame information: a row that we follow ourselves must lead where libunwind goes.
// Input: the instruction, alignments of code and data, the return address's register, the size of the CIE's program;
// that program; the FDE's program.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arch.hpp"
#include "fake_memory.hpp"
#include "process_code.hpp"
#include "rule_stepper.hpp"
#include "unwind_writer.hpp"

using namespace mpiacq;
using namespace mpiacq::unwinding;
using test::unwind_writer;

namespace {

constexpr std::size_t choices = 5;
constexpr std::size_t largest_program = 2000;

/// The tables, and a stack in which every word is another one.
class view final : public stepper_view {
 public:
  view(std::vector<std::byte> tables, unwind_module m) : code_(arch::native(), tables_, {std::move(m)}, memory_) {
    memory_.map(target_address{unwind_writer::tables_at}, std::move(tables));
  }
  [[nodiscard]] process_code::place enter(target_address pc) {
    place_ = code_.at(pc);
    return place_;
  }
  [[nodiscard]] std::optional<std::uint64_t> word(target_address address) override {
    if (address.value() % 64 == 8) return std::nullopt;
    return address.value() * 0x9e3779b97f4a7c15U ^ 0x5555;
  }
  [[nodiscard]] std::optional<std::uint64_t> table_word(target_address address) override {
    return code_.table_word(*place_.home, address);
  }

 private:
  shared_tables tables_;
  test::fake_memory memory_;
  process_code code_;
  process_code::place place_;
};

void must(bool held) {
  if (!held) std::abort();
}

void compare(view& process, target_address pc) {
  const process_code::place place = process.enter(pc);
  if (place.frame == nullptr) return;
  thread_registers registers;
  registers.count = static_cast<std::uint8_t>(arch::native().register_count);
  for (std::size_t i = 0; i < arch::native().register_count; ++i)
    registers.by_dwarf_number[i] = 0x100000000000 + 0x111110 * i;
  registers.sp = target_address{registers.by_dwarf_number[arch::native().sp_number]};
  registers.pc = pc;
  registers.by_dwarf_number[arch::native().pc_number] = pc.value();

  auto stepper = frame_stepper::create(process);
  if (!stepper || !(*stepper)->begin(registers, false)) std::abort();
  const known_frame& frame = *place.frame;
  const target_address record = frame.tables_begin + frame.covers.position;
  const step_result theirs = (*stepper)->step(record_address{record, frame.covers.begin, frame.covers.end});
  if (!frame.rule) return;
  rule_stepper rules{arch::native(), process};
  rules.begin(registers, false);
  must(rules.step(*frame.rule) == theirs);
  if (theirs != step_result::stepped) return;
  must(rules.pc() == (*stepper)->pc() && rules.sp() == (*stepper)->sp());
  must(rules.registers().by_dwarf_number == (*stepper)->registers().by_dwarf_number);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < choices || size > largest_program) return 0;
  const std::uint8_t* const end = data + size;
  const std::uint8_t* const common = data + choices;
  const std::uint8_t* const own = common + std::min<std::size_t>(data[4], size - choices);
  unwind_writer tables;
  tables.cie({common, own}).function(0, 0x100, {own, end});
  // Behind the augmentation string, in the place of what is usual. LEB128 of one byte.
  const auto leb = [&](std::size_t i) { return std::uint32_t{data[i]} & 0x7fU; };
  tables.put(11, leb(1) << 8U | leb(2) << 16U | std::uint32_t{data[3]} << 24U);
  auto [bytes, m] = tables.finish();
  view process{std::move(bytes), std::move(m)};
  compare(process, target_address{unwind_writer::code_at + data[0]});
  return 0;
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Any programs of call frame information: a row that we follow ourselves must lead where libunwind goes. For code of 32
// bits, which libunwind does not walk, rules of every kind must at least do no harm.
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

#include <elf.h>

#include "arch/unwind_arch.hpp"
#include "fake_memory.hpp"
#include "tables/process_code.hpp"
#include "unwind_writer.hpp"
#include "walk/rule_stepper.hpp"

using namespace mpiacq;
using namespace mpiacq::unwinding;
using test::unwind_writer;

namespace {

constexpr std::size_t choices = 5;
constexpr std::size_t largest_program = 2000;

/// The tables, and a stack in which every word is another one.
class view final : public stepper_view {
 public:
  view(const architecture& machine, std::vector<std::byte> tables, unwind_module m)
      : machine_(machine), code_(machine, tables_, {std::move(m)}, memory_) {
    memory_.map(target_address{unwind_writer::tables_at}, std::move(tables));
  }
  [[nodiscard]] process_code::place enter(target_address pc) {
    place_ = code_.at(pc);
    return place_;
  }
  [[nodiscard]] auto row_at(target_address pc) { return code_.row_at(place_, pc); }
  [[nodiscard]] std::optional<std::uint64_t> word(target_address address) override {
    if (address.value() % 64 == 8) return std::nullopt;
    return (address.value() * 0x9e3779b97f4a7c15U ^ 0x5555) & machine_.mask();
  }
  [[nodiscard]] std::optional<std::uint64_t> table_word(target_address address) override {
    return code_.table_word(*place_.home, address);
  }

 private:
  const architecture& machine_;
  shared_tables tables_;
  test::fake_memory memory_;
  process_code code_;
  process_code::place place_;
};

void must(bool held) {
  if (!held) std::abort();
}

/// All rules of the code at `pc`, as far as they lead.
void follow(view& process, const architecture& machine, target_address pc) {
  if (process.enter(pc).frame == nullptr) return;
  const auto row = process.row_at(pc);
  if (!row) return;
  thread_registers registers;
  registers.sp = target_address{0x7000};
  registers.pc = pc;
  rule_stepper rules{machine, process};
  rules.begin(registers, false);
  if (rules.step(row->row) != step_result::stepped) return;
  must((rules.pc().value() & ~machine.mask()) == 0 && (rules.sp().value() & ~machine.mask()) == 0);
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
  const target_address pc{unwind_writer::code_at + data[0]};
  if (const architecture* i386 = arch::of(abi_of_elf(ELFCLASS32, ELFDATA2LSB, EM_386))) {
    view narrow{*i386, bytes, m};
    follow(narrow, *i386, pc);
  }
  view process{arch::native(), std::move(bytes), std::move(m)};
  compare(process, pc);
  follow(process, arch::native(), pc);
  return 0;
}

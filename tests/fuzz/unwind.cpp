// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Any bytes as a process that is unwound: registers, unwind tables and a stack. And as what /proc/PID/maps says.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <elf.h>

#include "fake_memory.hpp"
#include "modules/loaded_objects.hpp"
#include "mpiacq/process/unwinder.hpp"
#include "unwind_writer.hpp"

using namespace mpiacq;

namespace {

constexpr std::size_t choices = 8;  // what header there is, the pc, the size of the tables, of the header
constexpr std::uint64_t stack_at = 0x70000;

std::uint64_t number(std::span<const std::byte> bytes, std::size_t at) {
  return decode_unsigned(bytes.subspan(at, 2), byte_order::little);
}

thread_registers registers_from(std::span<const std::byte> bytes, std::uint64_t pc) {
  thread_registers r;
  r.count = 17;
  for (std::size_t i = 0; i < 16 && 8 * i + 8 <= bytes.size(); ++i) {
    r.by_dwarf_number[i] = decode_unsigned(bytes.subspan(8 * i, 8), byte_order::little);
  }
  r.pc = target_address{pc};
  r.sp = target_address{stack_at};
  return r;
}

unwind_module module_from(std::span<const std::byte> choice, std::size_t table_size) {
  unwind_module m;
  m.file = std::make_shared<const unwind_file>(unwind_file{"fuzzed.so", {}, {}});
  m.bias = m.begin = m.tables_begin = target_address{test::unwind_writer::tables_at};
  m.end = target_address{test::unwind_writer::module_end};
  m.tables_end = m.tables_begin + table_size;
  if ((choice[0] & std::byte{1}) == std::byte{0}) {
    m.eh_frame_hdr = m.tables_begin;
    m.eh_frame_hdr_size = number(choice, 6);
  } else {
    m.eh_frame = m.tables_begin;
    m.eh_frame_size = number(choice, 6);
  }
  return m;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)elf::loaded_objects_in({reinterpret_cast<const char*>(data), size});
  if (size < choices) return 0;
  const std::span<const std::byte> input{reinterpret_cast<const std::byte*>(data), size};
  const auto choice = input.first(choices);
  const auto rest = input.subspan(choices);
  const std::size_t table_size = std::min<std::size_t>(number(choice, 4), rest.size());
  const auto tables = rest.first(table_size);
  const auto stack = rest.subspan(table_size);

  test::fake_memory memory;
  memory.map(target_address{test::unwind_writer::tables_at}, {tables.begin(), tables.end()});
  memory.map(target_address{stack_at}, {stack.begin(), stack.end()});
  const target_abi abi = abi_of_elf(ELFCLASS64, ELFDATA2LSB, EM_X86_64);
  auto walker = unwinder::create(abi, std::make_shared<unwind_tables>(), {module_from(choice, table_size)}, memory);
  if (!walker) std::abort();
  const walk_options options{.max_frames = 64};
  const auto registers = registers_from(stack, test::unwind_writer::code_at + number(choice, 2));
  const auto walked = (*walker)->walk(registers, options);
  if (!walked || walked->frames.empty() || walked->frames.size() > options.max_frames) std::abort();
  if ((walked->end == stack_end::outermost) != walked->why.empty()) std::abort();
  // What is remembered of the first walk must not change the second one.
  const auto again = (*walker)->walk(registers, options);
  if (!again || again->frames != walked->frames || again->end != walked->end) std::abort();
  return 0;
}

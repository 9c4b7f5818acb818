// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "rank_positions.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "handles/mpi_abi.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/queues/mpi_call.hpp"
#include "proc/proc_text.hpp"
#include "proc/process_folder.hpp"
#include "text/file_name.hpp"

namespace mpiacq {

namespace {

/// The bound for the part of a stack whose contents are compared.
constexpr std::size_t most_contents = 256U << 10;
constexpr std::size_t most_of_io = 1024;

std::uint64_t mixed_number(std::uint64_t number, std::uint64_t more) {
  number = (number ^ more) * 0x9e3779b97f4a7c15U;
  return number ^ (number >> 29);
}

std::uint64_t mixed_bytes(std::uint64_t number, std::span<const std::byte> bytes) {
  std::uint64_t word = 0;
  for (; bytes.size() >= sizeof word; bytes = bytes.subspan(sizeof word)) {
    std::memcpy(&word, bytes.data(), sizeof word);
    number = mixed_number(number, word);
  }
  for (const std::byte one : bytes) number = mixed_number(number, static_cast<std::uint64_t>(one));
  return number;
}

std::uint64_t mixed_registers(std::uint64_t number, const thread_registers& registers) {
  for (const std::uint64_t value : registers.by_dwarf_number) number = mixed_number(number, value);
  return number;
}

/// Libraries that do a small part of what their caller does: a program that calls malloc is where it has called it.
bool is_helper(const code_place& place) {
  constexpr std::array<std::string_view, 9> names = {"libc.so",    "libc-",    "libm.so",  "libm-", "libmvec",
                                                     "libpthread", "librt.so", "ld-linux", "[vdso]"};
  const std::string_view file = base::file_name_of(place.module_path);
  return std::any_of(names.begin(), names.end(), [&](std::string_view one) { return file.starts_with(one); });
}

/// The frame, among those with names, of the outermost MPI function. Empty: the rank is in no call. A compiler may have
/// moved the part of an MPI function that waits to code without a name.
std::optional<std::size_t> mpi_frame(std::span<const stack_frame> frames) {
  for (std::size_t i = frames.size(); i-- > 0;) {
    const code_place& place = *frames[i].place;
    if (activity_in(place.function).kind != mpi_call_kind::none || is_mpi_library(place.module_path)) return i;
  }
  return std::nullopt;
}

/// One number for each function from the outermost one to that of `innermost`, inclusive; frames of `raw`.
std::vector<std::uint64_t> activations_of(const walked_stack& stack, std::size_t innermost) {
  const auto& raw = stack.raw.frames;
  std::vector<std::uint64_t> numbers(raw.size());
  for (std::size_t i = 0; i < stack.frames.size(); ++i) {
    // The last name of a frame is that of the function which others were inlined into.
    numbers[stack.raw_numbers[i]] = std::hash<std::string>{}(stack.frames[i].place->function);
  }
  std::vector<std::uint64_t> all;
  std::uint64_t outer = 1;
  for (std::size_t i = raw.size(); i-- > innermost;) {
    const bool has_caller = i + 1 < raw.size();
    outer = mixed_number(outer, has_caller ? raw[i + 1].pc.value() : 0);
    outer = mixed_number(outer, has_caller ? raw[i + 1].sp.value() : 0);
    outer = mixed_number(outer, numbers[i]);
    const bool has_room = all.size() + 1 < rank_position::most_activations;
    if (has_room || i == innermost) all.push_back(outer);
  }
  return all;
}

std::uint64_t contents_of(const raw_stack& stack, std::size_t call, rank_walker& walker) {
  const auto copied = walker.copied_from(stack.frames[call + 1].sp);
  if (copied.empty()) return 0;
  const auto kept = walker.kept_registers(stack.thread, call);
  if (!kept) return 0;
  const std::uint64_t number = mixed_registers(1, *kept);
  return mixed_bytes(number, copied.first(std::min(copied.size(), most_contents))) | 1;
}

/// The memory below a stack: `rank_position::left`. It is read from the process, which may run: what it writes
/// meanwhile lies above, or shows that it calls something.
void add_left(rank_position& here, process_id pid, target_address sp) {
  constexpr std::uint64_t piece = rank_position::left_piece, size = 16 * piece;
  static_assert(size <= read_page_size);
  const std::uint64_t end = sp.value() - sp.value() % piece;
  if (end < 2 * size) return;
  const std::uint64_t page = std::max(end - size, end - end % read_page_size);
  std::array<std::byte, size> bytes{};
  // The lower page need not exist.
  const auto lower = static_cast<std::size_t>(page - (end - size));
  std::array<memory_range, 2> ranges = {memory_range{target_address{page}, std::span(bytes).subspan(lower)},
                                        memory_range{target_address{end - size}, std::span(bytes).first(lower)}};
  if (!process_memory(pid).read_ranges(ranges) || ranges[0].got < ranges[0].into.size()) return;
  const std::size_t first = ranges[1].got < lower ? lower : 0;
  here.left_end = end;
  for (std::size_t at = size; at >= first + piece; at -= piece)
    here.left.push_back(mixed_bytes(1, std::span(bytes).subspan(at - piece, piece)));
}

/// What the thread has read and written (proc_pid_io(5)). The kernel does not show it to everybody.
std::uint64_t bytes_moved_by(process_id pid, thread_id thread) {
  const auto text = read_process_file(pid, fmt::format("task/{}/io", thread.value()).c_str(), most_of_io);
  if (!text) return 0;
  std::uint64_t moved = 0;
  for (const std::string_view name : {"rchar", "wchar"}) {
    auto line = status_line(*text, name);
    const auto number = line ? take_number(*line) : std::nullopt;
    if (number) moved += static_cast<std::uint64_t>(*number);
  }
  return moved;
}

}  // namespace

rank_position position_of(entry_index entry, process_id pid, const walked_stack& stack, rank_walker& walker) {
  rank_position here;
  here.entry = entry;
  here.bytes_moved = bytes_moved_by(pid, stack.raw.thread);
  const auto& raw = stack.raw.frames;
  if (raw.empty() || stack.frames.empty()) return here;
  here.instruction = mixed_number(1, raw.front().pc.value());
  if (const auto* registers = walker.registers_of(stack.raw.thread))
    here.instruction = mixed_registers(here.instruction, *registers);

  const auto call = mpi_frame(stack.frames);
  const std::size_t mpi = call ? stack.raw_numbers[*call] : 0;
  if (call && mpi + 1 < raw.size()) {
    here.activations = activations_of(stack, mpi + 1);
    here.call = activations_of(stack, mpi).back() | 1;
    here.contents = contents_of(stack.raw, mpi, walker);
  } else if (call) {
    here.call = mixed_number(1, raw[mpi].pc.value()) | 1;  // its callers are not known
  } else {
    std::size_t own = 0;
    while (own + 1 < stack.frames.size() && is_helper(*stack.frames[own].place)) ++own;
    here.activations = activations_of(stack, stack.raw_numbers[own]);
    add_left(here, pid, raw.front().sp);
  }
  return here;
}

}  // namespace mpiacq

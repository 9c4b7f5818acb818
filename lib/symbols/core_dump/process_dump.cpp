// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "core_dump/process_dump.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core_dump/dump_notes.hpp"
#include "core_dump/dump_records.hpp"
#include "core_dump/memory_areas.hpp"
#include "core_dump/memory_copier.hpp"
#include "core_dump/sparse_file.hpp"
#include "elf/input_file.hpp"
#include "errors/try.hpp"

namespace mpiacq::elf {

namespace {

constexpr std::size_t most_threads = 65536;

/// The ABI of the program that the process runs.
result<target_abi> abi_of_process(process_id pid, const std::string& proc) {
  const auto program = TRY(input_file::open(fmt::format("{}/{}/exe", proc, pid.value())));
  std::array<std::byte, largest_header_size> head{};
  const std::size_t got = TRY(program.read_some(0, head));
  const auto header = decode_header(std::span{head}.first(got));
  if (!header) {
    return fail(error_code::bad_format, fmt::format("the program of process {} is no ELF file", pid.value()));
  }
  return header->abi;
}

result<void> check_threads(const core_process& process, const dump_machine& machine) {
  if (process.threads.empty()) {
    return fail(error_code::invalid_argument,
                fmt::format("a core file of process {} needs at least one thread", process.process.value()));
  }
  if (process.threads.size() > most_threads) {
    return fail(error_code::limit,
                fmt::format("process {} has more than {} threads", process.process.value(), most_threads));
  }
  for (const core_thread& thread : process.threads) {
    const bool fits =
        thread.registers.size() == machine.registers && thread.floating_point.size() <= machine.most_floating;
    if (fits) continue;
    return fail(error_code::invalid_argument,
                fmt::format("thread {} has {} bytes of registers and {} of floating-point registers, which are not "
                            "those of a thread of process {} ({} bytes)",
                            thread.thread.value(), thread.registers.size(), thread.floating_point.size(),
                            process.process.value(), machine.registers));
  }
  return {};
}

/// One core file, from the process to the file.
class dump_writer {
 public:
  dump_writer(const core_process& process, memory_reader& memory, const core_write_options& options, target_abi abi,
              memory_areas areas, sparse_file file)
      : process_(process),
        memory_(memory),
        options_(options),
        abi_(abi),
        areas_(std::move(areas)),
        file_(std::move(file)) {}

  result<written_core> write(const process_folder& folder) {
    auto account = TRY(read_process_account(folder));
    const dump_notes notes = encode_notes(abi_, process_, account, areas_, page_size_);
    const dump_places places = place_parts(abi_, areas_.all.size() + 1, notes.bytes.size(), page_size_);
    file_.reserve(places.notes + notes.bytes.size());
    TRY(place_memory(places, notes.bytes.size()));
    TRY(copy_memory(folder));
    TRY(file_.put(places.notes, notes.bytes.bytes()));
    TRY(file_.put(0, encode_headers(abi_, places, segments_).bytes()));
    TRY(file_.end_at(length_));
    written_.length = length_;
    written_.stored = file_.stored();
    written_.mappings = areas_.all.size();
    say_what_is_missing(notes.unlisted_files);
    return std::move(written_);
  }

 private:
  /// Gives each mapping its place in the file, in the order of addresses, as elfutils expects.
  result<void> place_memory(const dump_places& places, std::size_t size_of_notes) {
    std::uint64_t next = places.memory;
    segments_.reserve(areas_.all.size() + 1);
    segments_.push_back({PT_NOTE, 0, places.notes, 0, size_of_notes, 0, 4});
    for (const memory_area& area : areas_.all) {
      const std::uint64_t wanted = TRY(wanted_of(area, options_.contents, areas_.has_details, page_size_, memory_));
      // The offsets of a 32-bit core have 32 bits.
      const bool fits = abi_.pointer_size == 8 || next + wanted <= UINT32_MAX;
      const std::uint32_t flags =
          (area.is_readable ? PF_R : 0U) | (area.is_writable ? PF_W : 0U) | (area.is_executable ? PF_X : 0U);
      segments_.push_back({PT_LOAD, flags, next, area.begin, fits ? wanted : 0, area.size(), page_size_});
      if (fits) next += wanted;
      if (!fits) written_.left_out += wanted;
    }
    length_ = next;
    return {};
  }

  /// The mappings in the order in which they are written: the stacks of the threads, in the order of the threads, and
  /// then all others by address.
  [[nodiscard]] std::vector<std::size_t> order() const {
    const std::size_t at = dump_machine_of(abi_)->stack_pointer;
    std::vector<std::size_t> order;
    std::vector<bool> is_stack(areas_.all.size());
    for (const core_thread& thread : process_.threads) {
      const auto stack = decode_unsigned(std::span{thread.registers}.subspan(at, abi_.pointer_size), abi_.order);
      const auto behind = std::upper_bound(areas_.all.begin(), areas_.all.end(), stack,
                                           [](std::uint64_t a, const memory_area& area) { return a < area.begin; });
      if (behind == areas_.all.begin() || stack >= std::prev(behind)->end) continue;
      const auto index = static_cast<std::size_t>(std::prev(behind) - areas_.all.begin());
      if (!is_stack[index]) order.push_back(index);
      is_stack[index] = true;
    }
    for (std::size_t i = 0; i < areas_.all.size(); ++i) {
      if (!is_stack[i]) order.push_back(i);
    }
    return order;
  }

  result<void> copy_memory(const process_folder& folder) {
    memory_copier copier{folder, memory_, file_, [this] { return may_go_on(); }};
    bool has_room = true;
    for (const std::size_t index : order()) {
      const memory_area& area = areas_.all[index];
      segment& s = segments_[index + 1];
      const std::uint64_t wanted = s.file_size;
      if (wanted == 0) continue;
      std::uint64_t copied = 0;
      if (has_room) {
        // Unused pages of other mappings have contents: those of the file, of the shared memory, or of the kernel.
        const bool is_zero_at_first =
            !area.is_shared && !area.is_vdso && (!area.has_file || (area.is_huge && area.is_deleted));
        copied = TRY(copier.copy(area.begin, area.begin + wanted, s.offset, is_zero_at_first));
        has_room = copied == wanted;
      }
      s.file_size = copied;
      written_.left_out += wanted - copied;
    }
    written_.unreadable = copier.unreadable();
    return {};
  }

  result<bool> may_go_on() {
    if (has_passed(options_.until)) {
      is_late_ = true;
      return false;
    }
    if (options_.between_pieces) TRY(options_.between_pieces());
    return true;
  }

  void say_what_is_missing(std::size_t unlisted_files) {
    const auto problem = [&](error_code code, const std::string& what) {
      written_.problems.emplace_back(code,
                                     fmt::format("the core file of process {} {}", process_.process.value(), what));
    };
    if (written_.left_out > 0) {
      const char* why = is_late_              ? "the time was over"
                        : options_.most_bytes ? "it would be too large"
                                              : "its form ends";
      problem(is_late_ ? error_code::timed_out : error_code::limit,
              fmt::format("lacks {} bytes of memory, because {}", written_.left_out, why));
    }
    if (unlisted_files > 0) {
      problem(error_code::limit,
              fmt::format("does not name the files of {} mappings, because there are too many", unlisted_files));
    }
    if (areas_.dropped > 0) {
      problem(error_code::bad_format,
              fmt::format("lacks mappings: {} lines of the kernel's list are not understood", areas_.dropped));
    }
  }

  const core_process& process_;
  memory_reader& memory_;
  const core_write_options& options_;
  target_abi abi_;
  memory_areas areas_;
  sparse_file file_;
  std::uint64_t page_size_ = static_cast<std::uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 4096L));
  std::vector<segment> segments_{};
  std::uint64_t length_ = 0;  ///< of the file
  bool is_late_ = false;
  written_core written_{};
};

}  // namespace

result<written_core> dump_process(const core_process& process, memory_reader& memory, int descriptor,
                                  const core_write_options& options, const std::string& proc) {
  auto file = TRY(sparse_file::open(descriptor, fmt::format("the core file of process {}", process.process.value()),
                                    options.most_bytes));
  const auto folder = TRY(process_folder::open(process.process, proc));
  const target_abi abi = TRY(abi_of_process(process.process, proc));
  const dump_machine* machine = dump_machine_of(abi);
  if (machine == nullptr) {
    return fail(error_code::unsupported,
                fmt::format("core files of processes like {} are not written: the machine of its program is {}, with "
                            "{} bits (x86-64, i386 and aarch64 are known)",
                            process.process.value(), abi.elf_machine, 8 * abi.pointer_size));
  }
  TRY(check_threads(process, *machine));
  auto areas = TRY(read_memory_areas(folder, options.until));
  return dump_writer{process, memory, options, abi, std::move(areas), std::move(file)}.write(folder);
}

}  // namespace mpiacq::elf

namespace mpiacq {

result<written_core> write_core(const core_process& process, memory_reader& memory, int descriptor,
                                const core_write_options& options) {
  return elf::dump_process(process, memory, descriptor, options, proc_folder);
}

}  // namespace mpiacq

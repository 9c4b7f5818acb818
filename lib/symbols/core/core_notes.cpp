// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "core/core_notes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <elf.h>
#include <fmt/format.h>

#include "errors/try.hpp"

namespace mpiacq::elf {

namespace {

constexpr std::size_t max_notes = 1U << 20;         // some ten notes for each thread
constexpr std::uint64_t max_mappings = 1U << 20;    // the kernel's default limit is 65,530
constexpr std::uint64_t max_file_note = 64U << 20;  // the kernel's default limit is 4 MiB
constexpr std::uint64_t max_auxiliary = 4096;       // the same limit as for a live process
constexpr std::size_t header_of_note = 12;

constexpr std::uint64_t padded(std::uint64_t size) {
  return (size + 3) & ~std::uint64_t{3};
}

/// struct elf_prpsinfo: its size determines the sizes of its longs and its user ids.
struct process_information {
  std::uint64_t size;
  std::size_t pid;
  std::size_t short_name;
};
constexpr std::array<process_information, 3> process_informations = {{
    {136, 24, 40},  // 64 bits
    {124, 12, 28},  // 32 bits with 16-bit user ids (x86, Arm)
    {128, 16, 32},  // 32 bits with 32-bit user ids (PowerPC, MIPS)
}};
constexpr std::size_t short_name_size = 16;

// struct elf_prstatus: a siginfo of three ints, the signal (a short), two longs with sets of signals, the thread.
constexpr std::size_t status_signal = 12;
constexpr std::size_t status_signal_sets = 16;

class note_reader {
 public:
  explicit note_reader(const image& core) : core_(core), abi_(core.abi()) {}

  result<core_notes> read() {
    for (const segment& s : core_.segments()) {
      if (s.type != PT_NOTE) continue;
      TRY(walk(s.offset, s.file_size));
    }
    return std::move(notes_);
  }

 private:
  [[nodiscard]] const input_file& file() const { return core_.file(); }

  void note(error_code code, const std::string& what) {
    notes_.problems.push_back(error{code, fmt::format("the core file {} {}", file().name(), what)}.on(file().name()));
  }

  result<void> walk(std::uint64_t at, std::uint64_t size) {
    const std::uint64_t end = at > file().size() ? at : at + std::min(size, file().size() - at);
    if (end - at < size) note(error_code::bad_format, "ends within its notes: the rest of them is missing");
    while (end - at >= header_of_note) {
      if (++seen_ > max_notes) {
        note(error_code::limit, fmt::format("has more than {} notes; the others are ignored", max_notes));
        return {};
      }
      std::array<std::byte, header_of_note + 4> head{};
      TRY(file().read_some(at, head));
      const auto word = [&](std::size_t i) { return decode_unsigned(std::span{head}.subspan(i, 4), abi_.order); };
      const std::uint64_t contents = header_of_note + padded(word(0));
      const std::uint64_t whole = contents + padded(word(4));
      if (contents + word(4) > end - at) return {};  // the last one is cut off
      const bool is_wanted = word(0) == 5 && std::memcmp(head.data() + header_of_note, "CORE", 4) == 0;
      if (is_wanted) {
        if (auto taken = take(word(8), at + contents, word(4)); !taken) return taken;
      }
      at += std::min(whole, end - at);
    }
    return {};
  }

  result<void> take(std::uint64_t type, std::uint64_t at, std::uint64_t size) {
    switch (type) {
      case NT_PRSTATUS:
        return notes_.thread ? result<void>{} : take_part(at, size, 64, &note_reader::take_status);
      case NT_PRPSINFO:
        return take_part(at, size, 256, &note_reader::take_process);
      case NT_AUXV:
        return take_part(at, size, max_auxiliary, &note_reader::take_auxiliary);
      case NT_FILE:
        // The kernel writes one list. Several lists could refer to the same bytes and multiply the cost.
        if (std::exchange(files_taken_, true)) return {};
        if (size > max_file_note) {
          note(error_code::limit, fmt::format("has a list of mapped files of {} bytes, which is not read", size));
          return {};
        }
        return take_part(at, size, max_file_note, &note_reader::take_files);
      default:
        return {};
    }
  }

  /// Returns the first bytes of a note, and its true size.
  result<void> take_part(std::uint64_t at, std::uint64_t size, std::uint64_t most,
                         void (note_reader::*taker)(std::span<const std::byte>, std::uint64_t)) {
    auto bytes = TRY(file().read(at, std::min(size, most)));
    (this->*taker)(bytes, size);
    return {};
  }

  void take_status(std::span<const std::byte> bytes, std::uint64_t) {
    const std::size_t thread = status_signal_sets + 2 * std::size_t{abi_.long_size};
    if (bytes.size() < thread + 4) return;
    notes_.signal = static_cast<int>(decode_signed(bytes.subspan(status_signal, 2), abi_.order));
    notes_.thread = process_id{decode_signed(bytes.subspan(thread, 4), abi_.order)};
  }

  void take_process(std::span<const std::byte> bytes, std::uint64_t size) {
    for (const process_information& layout : process_informations) {
      if (layout.size != size) continue;
      notes_.process = process_id{decode_signed(bytes.subspan(layout.pid, 4), abi_.order)};
      const auto name = bytes.subspan(layout.short_name, short_name_size);
      const auto* text = reinterpret_cast<const char*>(name.data());
      notes_.short_name.assign(text, ::strnlen(text, name.size()));
    }
  }

  void take_auxiliary(std::span<const std::byte> bytes, std::uint64_t) {
    notes_.auxiliary = decode_auxiliary_vector(bytes, abi_);
  }

  /// long count; long page_size; then count times long begin, end, offset (in pages); then their paths, each with its
  /// terminator.
  void take_files(std::span<const std::byte> bytes, std::uint64_t) {
    const std::size_t word = abi_.long_size;
    if (bytes.size() < 2 * word) return;
    const auto number = [&](std::uint64_t i) {
      return decode_unsigned(bytes.subspan(static_cast<std::size_t>(i) * word, word), abi_.order);
    };
    const std::uint64_t count = number(0);
    const std::uint64_t page = number(1);
    if (count > max_mappings || count > (bytes.size() / word - 2) / 3) {
      return note(error_code::bad_format,
                  fmt::format("claims {} mapped files in a list of {} bytes, which is not used", count, bytes.size()));
    }
    auto names = bytes.subspan(static_cast<std::size_t>((2 + 3 * count) * word));
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto* text = reinterpret_cast<const char*>(names.data());
      const std::size_t length = ::strnlen(text, names.size());
      if (length == names.size()) return;  // truncated
      add({target_address{number(2 + 3 * i)}, target_address{number(3 + 3 * i)}, 0, 0, 0}, number(4 + 3 * i), page,
          {text, length});
      names = names.subspan(length + 1);
    }
  }

  void add(core_mapping mapping, std::uint64_t pages, std::uint64_t page_size, std::string_view path) {
    std::uint64_t offset = 0;
    const bool follows = notes_.mappings.empty() || notes_.mappings.back().end <= mapping.begin;
    if (!follows || mapping.end <= mapping.begin || __builtin_mul_overflow(pages, page_size, &offset)) return;
    mapping.offset = offset;
    const bool same_path = !notes_.paths.empty() && notes_.paths.back() == path;
    if (!same_path) notes_.paths.emplace_back(path);
    if (!same_path || offset == 0) ++loadings_;
    mapping.path = static_cast<std::uint32_t>(notes_.paths.size() - 1);
    mapping.loading = loadings_;
    notes_.mappings.push_back(mapping);
  }

  const image& core_;
  target_abi abi_;
  core_notes notes_;
  std::size_t seen_ = 0;
  std::uint32_t loadings_ = 0;
  bool files_taken_ = false;
};

}  // namespace

result<core_notes> read_core_notes(const image& core) {
  return note_reader{core}.read();
}

const core_mapping* mapping_at(const core_notes& notes, target_address address) {
  const auto behind = std::upper_bound(notes.mappings.begin(), notes.mappings.end(), address,
                                       [](target_address a, const core_mapping& m) { return a < m.begin; });
  if (behind == notes.mappings.begin()) return nullptr;
  const core_mapping& before = *(behind - 1);
  return address < before.end ? &before : nullptr;
}

}  // namespace mpiacq::elf

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "tables/decoding.hpp"
#include "tables/table_layouts.hpp"
#include "tables/table_pieces.hpp"

namespace mpiacq::mpi2dd {

namespace {

constexpr std::string_view entry_type = "MPI2DD_DIRECTORYENTRY";
// No Linux kernel assigns a larger pid: PID_MAX_LIMIT of 64-bit kernels.
constexpr std::int32_t highest_pid = 1 << 22;

/// One reading of one table with one stride.
class entry_reading {
 public:
  entry_reading(memory_reader& memory, const target_abi& abi, const table_limits& limits)
      : memory_(memory), abi_(abi), limits_(limits) {}

  result<directory_entries> read(const entry_stride& stride, target_address base, std::int32_t claimed) {
    stride_ = stride.bytes;
    columns_->stride = stride;
    columns_->facts.claimed = claimed;
    const array_place place{base, stride_, packed_stride(abi_.pointer_size), "the table of directories"};
    const auto decode = [this](const std::byte* piece, std::size_t count) {
      for_abi(abi_,
              [&]<byte_order Order, std::size_t PointerSize>() { decode_entries<Order, PointerSize>(piece, count); });
    };
    TRY(read_pieces(memory_, abi_, place, limits_, columns_->facts, decode));
    const string_limits bounds{limits_.max_string_bytes, limits_.max_string_bytes_in_all};
    if (auto read = columns_->strings.read(memory_, ids_.addresses(), bounds); !read) {
      return fail(std::move(read).error().while_doing("reading the strings of the table of directories"));
    }
    if (saw_bad_fields_ || columns_->strings.has_failures()) collect_problems();
    columns_->strings.renumber({&columns_->hosts, &columns_->executables});
    return table_access::table_of(std::move(columns_));
  }

 private:
  template <byte_order Order, std::size_t PointerSize>
  void decode_entries(const std::byte* piece, std::size_t count) {
    std::uint32_t* hosts = columns_->hosts.extend(count);
    std::uint32_t* executables = columns_->executables.extend(count);
    std::int32_t* pids = columns_->pids.extend(count);
    for (std::size_t i = 0; i < count; ++i, piece += stride_) {
      hosts[i] = host_.number(ids_, load_integer<Order, PointerSize>(piece));
      executables[i] = executable_.number(ids_, load_integer<Order, PointerSize>(piece + PointerSize));
      pids[i] = load_signed_32<Order>(piece + 2 * PointerSize);
      saw_bad_fields_ |= pids[i] <= 0;
    }
  }

  void collect_problems() {
    for (std::size_t i = 0; i < columns_->pids.size(); ++i) {
      const auto entry = static_cast<std::uint32_t>(i);
      const auto addresses = ids_.addresses();
      notes_.judge_string(columns_->strings, addresses, entry, table_field::host_name, columns_->hosts[i]);
      notes_.judge_string(columns_->strings, addresses, entry, table_field::executable_name, columns_->executables[i]);
      if (columns_->pids[i] > 0) continue;
      const target_address at = columns_->facts.address + i * stride_ + 2 * std::size_t{abi_.pointer_size};
      notes_.add({entry, table_field::pid, entry_fault::impossible_number, at, {}, columns_->pids[i]});
    }
  }

  memory_reader& memory_;
  const target_abi& abi_;
  const table_limits& limits_;
  std::size_t stride_ = 0;
  std::unique_ptr<directory_columns> columns_ = std::make_unique<directory_columns>();
  problem_notes notes_{columns_->facts, limits_};
  address_ids ids_;
  pointer_column host_, executable_;
  bool saw_bad_fields_ = false;
};

bool is_printable(std::string_view text) {
  // Bytes from 0x80 are UTF-8 or another encoding's letters: paths may have them.
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
}

/// The number of plausible entries: each string is null or readable and printable, and the pid is possible.
std::size_t fitting(const directory_entries& entries) {
  std::vector<bool> printable(entries.string_count());
  for (std::uint32_t i = 0; i < printable.size(); ++i) printable[i] = is_printable(entries.string(i));
  const auto is_good = [&](std::uint32_t number) {
    return number == no_string || (number < printable.size() && printable[number]);
  };
  std::size_t count = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::int32_t pid = entries.pids()[i];
    count +=
        pid > 0 && pid <= highest_pid && is_good(entries.hosts()[i]) && is_good(entries.executables()[i]) ? 1U : 0U;
  }
  return count;
}

/// The stride that debug information gives, if it is one of the two possible strides.
std::optional<entry_stride> stride_of(const structure_layout& layout, std::size_t pointer) {
  const auto stands = [&](std::string_view member, std::size_t offset) {
    const structure_member* found = layout.find(member);
    return found != nullptr && found->offset == offset;
  };
  const bool known_size = layout.size == packed_stride(pointer) || layout.size == compiled_stride(pointer);
  if (!known_size || !stands("host_name", 0) || !stands("executable_name", pointer) || !stands("pid", 2 * pointer)) {
    return std::nullopt;
  }
  return entry_stride{static_cast<std::size_t>(layout.size), layout.source,
                      fmt::format("{} has {} bytes in the debug information of {}", entry_type, layout.size,
                                  layout.debug_file.empty() ? layout.module_path : layout.debug_file)};
}

/// Infers the stride from the entries: the packed one if every entry fits it, else the compiled one if every entry fits
/// it, else the one that more entries fit.
result<directory_entries> read_by_looks(const target& process, target_address base, std::int32_t claimed,
                                        const table_limits& limits, std::string_view no_type) {
  const auto with = [&](std::size_t bytes, std::string why) {
    return read_directory_entries(process.memory, process.abi, {bytes, layout_source::inferred, std::move(why)}, base,
                                  claimed, limits);
  };
  const std::size_t packed = packed_stride(process.abi.pointer_size);
  const std::size_t compiled = compiled_stride(process.abi.pointer_size);
  auto as_packed = with(packed, fmt::format("{}; packed to {} bytes, every entry fits", no_type, packed));
  if (!as_packed) return as_packed;
  const auto all = static_cast<std::size_t>(claimed);
  const std::size_t fit_packed = fitting(*as_packed);
  if (fit_packed == all) return as_packed;
  auto as_compiled =
      with(compiled, fmt::format("{}; as C compiles it ({} bytes) every entry fits, packed to {} only {} of {} do",
                                 no_type, compiled, packed, fit_packed, all));
  if (!as_compiled) return as_compiled;
  const std::size_t fit_compiled = fitting(*as_compiled);
  if (fit_compiled == all) return as_compiled;
  return with(fit_compiled > fit_packed ? compiled : packed,
              fmt::format("{}; of {} entries {} fit if packed to {} bytes and {} if as C compiles it, to {}", no_type,
                          all, fit_packed, packed, fit_compiled, compiled));
}

}  // namespace

directory_entries::directory_entries() : columns_(std::make_unique<directory_columns>()) {}
directory_entries::directory_entries(std::unique_ptr<directory_columns> c) : columns_(std::move(c)) {}
directory_entries::~directory_entries() = default;
directory_entries::directory_entries(directory_entries&&) noexcept = default;
directory_entries& directory_entries::operator=(directory_entries&&) noexcept = default;

std::span<const std::uint32_t> directory_entries::hosts() const {
  return std::as_const(*columns_).hosts.span();
}
std::span<const std::uint32_t> directory_entries::executables() const {
  return std::as_const(*columns_).executables.span();
}
std::span<const std::int32_t> directory_entries::pids() const {
  return std::as_const(*columns_).pids.span();
}
std::size_t directory_entries::string_count() const {
  return columns_->strings.size();
}
std::string_view directory_entries::string(std::uint32_t number) const {
  return columns_->strings[number];
}
const table_facts& directory_entries::facts() const {
  return columns_->facts;
}
const entry_stride& directory_entries::stride() const {
  return columns_->stride;
}

result<directory_entries> read_directory_entries(memory_reader& memory, const target_abi& abi,
                                                 const entry_stride& stride, target_address base, std::int32_t claimed,
                                                 const table_limits& limits) {
  if (stride.bytes != packed_stride(abi.pointer_size) && stride.bytes != compiled_stride(abi.pointer_size)) {
    return fail(error_code::invalid_argument,
                fmt::format("{} bytes is not a possible stride of directory entries", stride.bytes));
  }
  return entry_reading(memory, abi, limits).read(stride, base, claimed);
}

result<directory_entries> read_directory_entries(const target& process, const symbol& info, target_address base,
                                                 std::int32_t claimed, const table_limits& limits) {
  const std::size_t pointer = process.abi.pointer_size;
  const std::size_t packed = packed_stride(pointer);
  const auto fixed = [&](std::string why) {
    return read_directory_entries(process.memory, process.abi, {packed, layout_source::fixed, std::move(why)}, base,
                                  claimed, limits);
  };
  if (packed == compiled_stride(pointer)) return fixed("packed or compiled, an entry has 12 bytes on a 32-bit target");
  if (claimed <= 1) return fixed("the stride makes no difference for so few entries");
  auto type = process.symbols.structure_named(entry_type, info);
  std::string no_type = fmt::format("no debug information describes {}", entry_type);
  if (type && *type) {
    if (const auto stride = stride_of(**type, pointer)) {
      return read_directory_entries(process.memory, process.abi, *stride, base, claimed, limits);
    }
    no_type = fmt::format("{} is another type in the debug information of {}", entry_type, (*type)->module_path);
  } else if (!type) {
    no_type = fmt::format("debug information could not be read ({})", type.error().message);
  }
  return read_by_looks(process, base, claimed, limits, no_type);
}

}  // namespace mpiacq::mpi2dd

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "code_names/code_ranges.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "errors/try.hpp"

namespace mpiacq {

namespace {

constexpr std::string_view vdso = "[vdso]";
/// The lowest address of the kernel.
constexpr std::uint64_t end_of_programs = std::uint64_t{1} << 63;
/// More than a process may have (vm.max_map_count is 65,530 by default).
constexpr std::size_t most_ranges = std::size_t{1} << 21;

/// `struct procmap_query` of <linux/fs.h>, which the headers of Debian 12 lack.
struct procmap_query {
  std::uint64_t size = sizeof(procmap_query);
  std::uint64_t query_flags = 0;
  std::uint64_t query_addr = 0;
  std::uint64_t vma_start = 0;
  std::uint64_t vma_end = 0;
  std::uint64_t vma_flags = 0;
  std::uint64_t vma_page_size = 0;
  std::uint64_t vma_offset = 0;
  std::uint64_t inode = 0;
  std::uint32_t dev_major = 0;
  std::uint32_t dev_minor = 0;
  std::uint32_t vma_name_size = 0;
  std::uint32_t build_id_size = 0;
  std::uint64_t vma_name_addr = 0;
  std::uint64_t build_id_addr = 0;
};
static_assert(sizeof(procmap_query) == 104);
constexpr unsigned long query_request = _IOWR('f', 17, procmap_query);
constexpr std::uint64_t only_executable = 0x04;
constexpr std::uint64_t this_one_or_next = 0x10;

/// Whether the mapping that `of` describes is the vDSO: a mapping without a file may have a name.
bool is_vdso(int maps, const procmap_query& of) {
  std::array<char, 64> name{};
  procmap_query query;
  query.query_addr = of.vma_start;
  query.vma_name_size = name.size();
  query.vma_name_addr = reinterpret_cast<std::uint64_t>(name.data());
  if (::ioctl(maps, query_request, &query) != 0 || query.vma_name_size == 0) return false;
  return std::string_view(name.data(), ::strnlen(name.data(), name.size())) == vdso;
}

}  // namespace

std::vector<code_range> elf::code_ranges_in(const code_mappings& mappings) {
  std::vector<code_range> ranges;
  ranges.reserve(mappings.code.size());
  for (const code_mapping& m : mappings.code) {
    if (m.begin >= end_of_programs) continue;
    code_range range{target_address{m.begin}, target_address{m.end}, m.file_offset, 0, 0, false};
    if (m.file != code_mapping::no_file) {
      const mapped_file& file = *mappings.files[m.file];
      range.device = file.device;
      range.inode = file.inode;
      range.is_vdso = file.inode == 0;
    }
    ranges.push_back(range);
  }
  return ranges;
}

std::optional<std::vector<code_range>> elf::query_code_ranges(int maps) {
  std::vector<code_range> ranges;
  procmap_query query;
  while (ranges.size() < most_ranges) {
    query.query_flags = only_executable | this_one_or_next;
    query.query_addr = query.vma_end;
    if (::ioctl(maps, query_request, &query) != 0) {
      if (errno == EINTR) continue;
      // A process that has ended has no mappings; the read of the text reports the reason.
      if (errno == ENOENT && !ranges.empty()) return ranges;
      return std::nullopt;
    }
    if (query.vma_end <= query.query_addr) return std::nullopt;
    ranges.push_back({target_address{query.vma_start}, target_address{query.vma_end}, query.vma_offset,
                      makedev(query.dev_major, query.dev_minor), query.inode, false});
    if (query.inode == 0) ranges.back().is_vdso = is_vdso(maps, query);
  }
  return std::nullopt;
}

result<std::vector<code_range>> read_code_ranges(process_id process) {
  const int maps = ::open(fmt::format("/proc/{}/maps", process.value()).c_str(), O_RDONLY | O_CLOEXEC);
  if (maps >= 0) {
    auto asked = elf::query_code_ranges(maps);
    ::close(maps);
    if (asked) return std::move(*asked);
  }
  const auto text = TRY(read_process_maps(process));
  return elf::code_ranges_in(elf::decode_mappings(text));
}

}  // namespace mpiacq

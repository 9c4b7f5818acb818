// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/time_limit.hpp"
#include "proc/process_folder.hpp"

namespace mpiacq::elf {

/// One mapping of a process, as a core file needs it.
struct memory_area {
  static constexpr std::uint32_t no_name = UINT32_MAX;

  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;      ///< the offset of its first byte in its file
  std::uint64_t written = 0;     ///< bytes of pages that belong to the process alone (Anonymous, Swap)
  std::uint32_t name = no_name;  ///< index into `memory_areas::names`; of mappings of files only
  bool is_readable = false;
  bool is_writable = false;
  bool is_executable = false;
  bool is_shared = false;
  bool has_file = false;
  bool is_deleted = false;   ///< its file has no name any more
  bool is_excluded = false;  ///< VmFlags dd: MADV_DONTDUMP
  bool is_device = false;    ///< VmFlags io, pf
  bool is_huge = false;      ///< VmFlags ht
  bool is_vdso = false;
  bool is_kernels = false;  ///< [vvar], [vsyscall]: pages of the kernel that hold nothing of the process

  [[nodiscard]] std::uint64_t size() const { return end - begin; }
};

struct memory_areas {
  std::vector<memory_area> all;    ///< by address; they do not overlap
  std::vector<std::string> names;  ///< paths of files
  bool has_details = false;        ///< `written` and the flags are known: the text was that of smaps
  std::size_t dropped = 0;         ///< lines that are no mapping, or one that overlaps another
  std::size_t unnamed = 0;         ///< mappings of files whose names did not fit into `most_of_names`
};

/// Reads the text of /proc/PID/smaps or /proc/PID/maps piece by piece, because a hostile process can make it gigabytes
/// long. Any bytes are accepted.
class area_parser {
 public:
  /// A kernel's line is shorter: a path of 4,095 bytes, each escaped with four.
  static constexpr std::size_t longest_line = 20000;
  static constexpr std::size_t most_of_names = std::size_t{32} << 20;
  static constexpr std::size_t most_areas = std::size_t{1} << 20;

  /// False if there are more than `most_areas` mappings; the rest is ignored.
  [[nodiscard]] bool take(std::string_view piece);
  [[nodiscard]] memory_areas finish();

 private:
  [[nodiscard]] bool take_line(std::string_view line);
  void take_detail(std::string_view line);
  void name_last(std::string_view path);

  memory_areas found_;
  std::string begun_;  ///< the beginning of a line
  std::size_t bytes_of_names_ = 0;
  bool is_first_of_area_ = false;  ///< the last mapping was taken, and its details belong to it
};

/// The mappings of a process. Errors: process_gone, permission, limit, timed_out, system.
[[nodiscard]] result<memory_areas> read_memory_areas(const process_folder& process, const time_limit& until);

/// Whether a limit has passed: its time, or its descriptor is readable.
[[nodiscard]] bool has_passed(const time_limit& until);

}  // namespace mpiacq::elf

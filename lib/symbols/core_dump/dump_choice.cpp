// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <array>

#include "core_dump/memory_areas.hpp"
#include "core_dump/process_dump.hpp"
#include "elf/elf_records.hpp"
#include "errors/try.hpp"

namespace mpiacq::elf {

// vma_dump_size of the kernel's fs/coredump.c
result<std::uint64_t> wanted_of(const memory_area& area, const core_contents& contents, bool has_details,
                                std::uint64_t page_size, memory_reader& memory) {
  const auto all_if = [&](bool is_wanted) { return is_wanted ? area.size() : 0; };
  if (area.is_vdso) return area.size();
  if (area.is_excluded || area.is_device || area.is_kernels) return 0;
  if (area.is_huge) return all_if(area.is_shared ? contents.shared_huge_pages : contents.private_huge_pages);
  if (area.is_shared) {
    return all_if(area.has_file && !area.is_deleted ? contents.shared_files : contents.shared_anonymous);
  }
  // A writable mapping of a file may differ from the file, so that readers do not take its bytes from the file.
  const bool is_own = area.written > 0 || (area.is_writable && (area.has_file || !has_details));
  if (is_own && contents.private_anonymous) return area.size();
  if (!area.has_file) return 0;
  if (contents.private_files) return area.size();
  if (!contents.elf_headers || area.offset != 0 || !area.is_readable) return 0;
  std::array<std::byte, 4> magic{};
  memory_range range{target_address{area.begin}, magic};
  TRY(memory.read_ranges({&range, 1}));
  return range.got == magic.size() && has_magic(magic) ? std::min(page_size, area.size()) : 0;
}

}  // namespace mpiacq::elf

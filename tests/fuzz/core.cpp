// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Any bytes as a core file: its notes, its memory, the program and the libraries in it, and a table.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "input_as_file.hpp"
#include "mpiacq/job/core_table.hpp"

using namespace mpiacq;

namespace {

/// What a read gives must not depend on how it is cut.
void check_reads(core_file& core, target_address where) {
  std::vector<std::byte> whole(3 * read_page_size);
  memory_range at_once{where, whole};
  if (!core.read_ranges({&at_once, 1})) return;
  if (at_once.got > whole.size()) std::abort();
  std::vector<std::byte> half(whole.size() / 2);
  memory_range first{where, half};
  if (!core.read_ranges({&first, 1})) return;
  if (first.got != std::min(half.size(), at_once.got)) std::abort();
  if (!std::equal(half.begin(), half.begin() + static_cast<std::ptrdiff_t>(first.got), whole.begin())) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::input_as_file input{data, size};
  // What an input names as mapped files may be there by chance: that is part of it.
  const core_file_options files{"/nowhere", "/nowhere"};
  const auto core = core_file::open(input.path(), files);
  if (!core) return core.error().message.empty() ? std::abort(), 0 : 0;
  for (const std::uint64_t address : {0x0ULL, 0x10000ULL, 0x400000ULL, 0x500ffcULL, 0xfffffffffffff000ULL}) {
    check_reads(**core, target_address{address});
  }
  table_limits limits;
  limits.max_entries = 65536;
  limits.max_string_bytes_in_all = 1U << 20;
  const auto job = read_core(input.path(), {files, {{}, false}, limits});
  if (!job) return job.error().message.empty() ? std::abort(), 0 : 0;
  if (job->processes && (job->states.size() != job->processes->size() || job->locality.size() != job->states.size())) {
    std::abort();
  }
  return 0;
}

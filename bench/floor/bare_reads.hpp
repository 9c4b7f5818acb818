// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The floor of reading a process: the same bytes in the fewest calls, into memory that has been touched before.
#pragma once

#include <algorithm>
#include <climits>
#include <cstddef>
#include <span>
#include <vector>

#include <sys/uio.h>
#include <unistd.h>

#include "bare_hold.hpp"

namespace mpiacq::bench {

/// `buffer` has room for all ranges.
inline void bare_reads(pid_t process, const std::vector<iovec>& ranges, std::span<char> buffer) {
  for (std::size_t first = 0; first < ranges.size(); first += IOV_MAX) {
    const std::size_t count = std::min<std::size_t>(IOV_MAX, ranges.size() - first);
    const iovec here{buffer.data(), buffer.size()};
    must_be(::process_vm_readv(process, &here, 1, &ranges[first], count, 0) > 0, "process_vm_readv");
  }
}

}  // namespace mpiacq::bench

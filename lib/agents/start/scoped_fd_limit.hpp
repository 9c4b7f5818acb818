// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Provides descriptors for the connections of thousands of agents: the soft limit of a process is mostly 1024.
#pragma once

#include <cstddef>

namespace mpiacq::agents {

/// Raises the soft limit for descriptors of this process up to the hard limit. When the last object of this class is
/// destroyed, the limit is restored, unless the program has set another one meanwhile. Thread: each by one at a time.
class scoped_fd_limit {
 public:
  scoped_fd_limit() = default;
  ~scoped_fd_limit();
  scoped_fd_limit(const scoped_fd_limit&) = delete;
  scoped_fd_limit& operator=(const scoped_fd_limit&) = delete;

  /// Makes sure that this many more descriptors can be opened, as far as the hard limit permits.
  void reserve(std::size_t more);

 private:
  bool has_raised_ = false;
};

/// Restores the process's original limit for its own lifetime, for programs that are started and inherit it.
class original_descriptor_limit {
 public:
  original_descriptor_limit();
  ~original_descriptor_limit();
  original_descriptor_limit(const original_descriptor_limit&) = delete;
  original_descriptor_limit& operator=(const original_descriptor_limit&) = delete;
};

}  // namespace mpiacq::agents

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Descriptors for the connections of thousands of agents, of which a process is mostly given a thousand.
#pragma once

#include <cstddef>

namespace mpiacq::agents {

/// Raises the soft limit of this process, as far as it may without rights of its own. The limit is what it was when the
/// last of these has gone, unless somebody else has set another. Thread: each by one at a time.
class scoped_fd_limit {
 public:
  scoped_fd_limit() = default;
  ~scoped_fd_limit();
  scoped_fd_limit(const scoped_fd_limit&) = delete;
  scoped_fd_limit& operator=(const scoped_fd_limit&) = delete;

  /// For so many more than are open now, where the limit is less.
  void make(std::size_t more);

 private:
  bool has_raised_ = false;
};

/// While it lives the limit is what this process was given: for programs that are run, which inherit it.
class original_descriptor_limit {
 public:
  original_descriptor_limit();
  ~original_descriptor_limit();
  original_descriptor_limit(const original_descriptor_limit&) = delete;
  original_descriptor_limit& operator=(const original_descriptor_limit&) = delete;
};

}  // namespace mpiacq::agents

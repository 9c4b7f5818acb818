// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "descriptors/unique_fd.hpp"

namespace mpiacq {

/// One descriptor for the events of a tracer and for those that another call of `node_ranks` has taken from it already,
/// such as a look at the stacks.
class end_signal {
 public:
  /// `events`: the tracer's descriptor; -1: there is none.
  explicit end_signal(int events);
  end_signal() = default;
  /// Readable when there is an event of the tracer, or after `set`; -1 if the system has no descriptor left.
  [[nodiscard]] int descriptor() const { return both_.get(); }
  void set() const;
  void clear() const;

 private:
  base::unique_fd taken_;  ///< an eventfd
  base::unique_fd both_;   ///< an epoll descriptor
};

}  // namespace mpiacq

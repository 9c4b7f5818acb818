// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// No exception leaves the library: an exhausted memory becomes an error.
#pragma once

#include <cerrno>
#include <new>
#include <string_view>
#include <utility>

#include "mpiacq/base/error.hpp"

namespace mpiacq {

[[nodiscard]] inline error out_of_memory(std::string_view doing) {
  error why{error_code::system, "out of memory"};
  why.system_errno = ENOMEM;
  return std::move(why).while_doing(doing);
}

/// Calls `work`, which returns a result, and turns std::bad_alloc into an error. The state that `work` was changing is
/// then undefined. Its owner can only be destroyed, which releases the job.
template <class Work>
[[nodiscard]] auto without_exceptions(std::string_view doing, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return fail(out_of_memory(doing));
  }
}

/// As above, for work that returns a value with a list of problems: the list then says why the rest is empty. `undo` is
/// called before.
template <class Work, class Undo>
[[nodiscard]] auto without_exceptions(std::string_view doing, Work work, Undo undo) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    decltype(work()) nothing;
    undo();
    nothing.problems.push_back(out_of_memory(doing));
    return nothing;
  }
}

}  // namespace mpiacq

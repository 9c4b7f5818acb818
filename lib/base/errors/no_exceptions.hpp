// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// No exception leaves the library: memory that is short becomes an error.
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

/// Calls `work`, which gives a result, and makes an error of memory that is short. What `work` was changing is then
/// unknown; its owner can only be destroyed, which lets go of the job.
template <class Work>
[[nodiscard]] auto without_exceptions(std::string_view doing, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return fail(out_of_memory(doing));
  }
}

/// The same for work whose answer is no result and has a list of problems: that list says why the rest of it is empty.
/// `undo` is called before that.
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

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <new>
#include <string_view>

#include "mpiacq/error.hpp"

namespace mpiacq {

/// Calls `work`, which gives a result, and makes an error of memory that is short: no exception leaves the library.
/// What `work` was changing is then unknown; its owner can only be destroyed, which lets go of the job.
template <class Work>
[[nodiscard]] auto without_exceptions(std::string_view doing, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    error why{error_code::system, "out of memory"};
    why.system_errno = ENOMEM;
    return fail(std::move(why).while_doing(doing));
  }
}

}  // namespace mpiacq

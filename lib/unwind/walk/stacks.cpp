// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/ranks/stacks.hpp"

namespace mpiacq {

bool is_of_system(const code_place& place) {
  const std::string_view path = place.module_path;
  return path.starts_with("/lib") || path.starts_with("/usr/lib") || path.starts_with('[');
}

std::string_view name(stack_end end) {
  switch (end) {
    case stack_end::outermost:
      return "outermost";
    case stack_end::no_unwind_info:
      return "no-unwind-info";
    case stack_end::unreadable_memory:
      return "unreadable-memory";
    case stack_end::no_progress:
      return "no-progress";
    case stack_end::frame_limit:
      return "frame-limit";
  }
  return "?";
}

}  // namespace mpiacq

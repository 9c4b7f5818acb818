// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "objects/shared_groups.hpp"

#include <algorithm>

namespace mpiacq {

void shared_groups::share(std::optional<group_members>& group) {
  if (!group) return;
  const auto same = std::find(seen_.begin(), seen_.end(), *group);
  if (same != seen_.end()) {
    group = *same;
  } else if (group->size() > most_members - members_) {
    group.reset();
  } else {
    members_ += group->size();
    seen_.push_back(*group);
  }
}

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Entries of the job's table whose processes belong to other users.
#include <utility>

#include "control/job_state.hpp"
#include "mpiacq/process/process_user.hpp"

namespace mpiacq {

bool job::state::is_other_users(process_id pid) const {
  const auto starters = processes ? processes->user() : std::nullopt;
  if (!starters) return false;
  const auto users = users_of(pid);
  return users && why_no_rank(pid, *users, *starters);
}

void job::state::notice_other_users_ranks() {
  for (error& why : other_users_ranks(*processes, host_is_local)) {
    if (other_users.insert(why.message).second) notice(std::move(why));
  }
}

}  // namespace mpiacq

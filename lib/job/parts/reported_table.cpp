// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/reported_table.hpp"

#include <utility>

#include "mpiacq/process/process_user.hpp"
#include "table_hosts.hpp"

namespace mpiacq {

void reported_table::take(std::shared_ptr<const process_table> table) {
  table_ = std::move(table);
  locality_ = entry_locality(*table_, local_hosts_of(*table_, this_host()));
  for (error& why : other_users_ranks(*table_, locality_)) {
    if (noticed_.insert(why.message).second) events_.notice(std::move(why));
  }
}

bool reported_table::is_other_users(process_id pid) const {
  const auto starters = table_ ? table_->user() : std::nullopt;
  if (!starters) return false;
  const auto users = users_of(pid);
  return users && why_no_rank(pid, *users, *starters);
}

const local_host& reported_table::this_host() {
  if (!here_) here_ = local_host::of_this_system();
  return *here_;
}

}  // namespace mpiacq

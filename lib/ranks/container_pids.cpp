// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "container_pids.hpp"

#include <utility>

namespace mpiacq {

container_pids::translation container_pids::of(const pid_namespace& space, deadline since) {
  const std::lock_guard lock(mutex_);
  made& last = known_[space.number];
  if (!last.what || last.at < since) last = {clock::now(), std::make_shared<const pid_translation>(space)};
  return last.what;
}

process_in_container::process_in_container(std::unique_ptr<mpi2dd::opened_process> process, const pid_namespace& space,
                                           std::shared_ptr<container_pids> pids,
                                           std::function<bool(std::string_view)> is_here)
    : process_(std::move(process)), space_(space), pids_(std::move(pids)), is_here_(std::move(is_here)) {}

std::int32_t process_in_container::pid_here(std::string_view host, std::int32_t pid) {
  if (!host.empty() && !is_here_(host)) return pid;
  // Processes start, and numbers are used again: an older translation may be used for a second.
  constexpr std::chrono::seconds oldest{1};
  if (!translation_) translation_ = pids_->of(space_, opened_ - oldest);
  auto found = translation_->here(process_id{pid});
  // Once for each process that is read, however many of its numbers are wrong.
  if (!found && !std::exchange(is_fresh_, true)) {
    translation_ = pids_->of(space_, opened_);
    found = translation_->here(process_id{pid});
  }
  return found ? static_cast<std::int32_t>(found->value()) : 0;
}

}  // namespace mpiacq

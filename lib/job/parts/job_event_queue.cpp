// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/job_event_queue.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace mpiacq {

namespace {

bool is_notice(const job_event& event) {
  return std::holds_alternative<job_notice>(event);
}

/// The process that raised an event which stops it; empty for an event that stops no process.
std::optional<process_id> raiser_of(const job_event& event, process_id starter) {
  const auto of_change = [&](const std::optional<job_change>& change) { return change ? change->raised_by : starter; };
  if (const auto* spawned = std::get_if<job_spawned>(&event)) return of_change(spawned->change);
  if (const auto* aborting = std::get_if<job_aborting>(&event)) return of_change(aborting->change);
  if (const auto* changed = std::get_if<job_changed>(&event)) return changed->change.raised_by;
  if (std::holds_alternative<job_attached>(event)) return starter;
  return std::nullopt;
}

}  // namespace

void job_event_queue::notice_failure(const result<void>& done) {
  if (!done && done.error().code != error_code::process_gone) notice(done.error());
}

std::optional<job_event> job_event_queue::take() {
  if (events_.empty()) return std::nullopt;
  std::optional<job_event> oldest = std::move(events_.front());
  events_.pop_front();
  return oldest;
}

void job_event_queue::put_notices_first(std::size_t first) {
  std::stable_partition(events_.begin() + static_cast<std::ptrdiff_t>(first), events_.end(), is_notice);
}

void job_event_queue::keep_only_notices() {
  std::erase_if(events_, [](const job_event& event) { return !is_notice(event); });
}

std::optional<process_event> job_event_queue::take_deferred() {
  if (deferred_.empty()) return std::nullopt;
  std::optional<process_event> oldest = std::move(deferred_.front());
  deferred_.pop_front();
  return oldest;
}

bool job_event_queue::has_event_of(process_id process, process_id starter) const {
  const auto is_its_hit = [&](const process_event& hit) { return hit.process == process; };
  const auto is_its_event = [&](const job_event& event) { return raiser_of(event, starter) == process; };
  return std::any_of(deferred_.begin(), deferred_.end(), is_its_hit) ||
         std::any_of(events_.begin(), events_.end(), is_its_event);
}

}  // namespace mpiacq

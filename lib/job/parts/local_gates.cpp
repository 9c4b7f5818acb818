// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/local_gates.hpp"

#include <set>
#include <utility>

#include "proc/process_state.hpp"

namespace mpiacq {

namespace {

using namespace std::chrono_literals;

/// A rank may not have exec'ed its program yet, or its program may load the MPI library late. A rank without a gate is
/// tried again after twice the time: many of them cost little, and none waits much longer than its library took to
/// load.
constexpr auto first_interval = 20ms;
constexpr auto last_interval = 60s;

}  // namespace

void local_gates::open(std::span<const process_id> ranks, const std::function<bool(process_id)>& is_rank,
                       gate_opener& opener) {
  are_opened_ = true;
  closed_.clear();
  std::set<process_id> known;  // a table may name one process many times
  for (const process_id rank : ranks) {
    if (!known.insert(rank).second) continue;
    // From here on the pidfd is this process or none.
    closed_gate gate{rank, open_process(rank), {}};
    if (is_rank(rank)) closed_.push_back(std::move(gate));
  }
  interval_ = first_interval;
  retry(opener);
}

void local_gates::retry(gate_opener& opener) {
  timers_.clear(job_timer::gates);
  std::erase_if(closed_, [&](closed_gate& gate) { return try_one(gate, opener); });
  if (closed_.empty()) return;
  if (interval_ <= last_interval) {
    timers_.set(job_timer::gates, interval_);
    interval_ *= 2;
    return;
  }
  for (const closed_gate& gate : std::exchange(closed_, {})) events_.notice_failure(gate.last_try);
}

bool local_gates::try_one(closed_gate& gate, gate_opener& opener) {
  // A process that has ended waits for nothing, and its number may be another's by now.
  if (!is_alive(gate.process)) return true;
  const auto opened = opener.open_gate(gate.rank);
  if (opened) {
    gate.last_try = {};
    return *opened;
  }
  gate.last_try = fail(opened.error());
  if (opened.error().code != error_code::permission) return false;
  events_.notice_failure(gate.last_try);
  is_refused_ = true;
  return true;
}

bool local_gates::take_refusal() {
  return std::exchange(is_refused_, false);
}

}  // namespace mpiacq

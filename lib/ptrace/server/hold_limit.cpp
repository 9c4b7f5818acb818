// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A tool may be stopped, wait for a full pipe, or wait for memory that does not answer. Processes stay stopped for it
// only for a limited time.
#include <vector>

#include <fmt/format.h>

#include "engine/engine.hpp"

namespace mpiacq::tracing {

void engine::heard_from_tool() {
  heard_at_ = clock::now();
  tool_is_silent_ = false;
}

void engine::become_held(traced_process& process) {
  process.now = phase::held;
  process.held_since = clock::now();
}

deadline engine::hold_end_of(const traced_process& process) const {
  if (!options_.hold_limit || process.now != phase::held || leaving_all_) return no_deadline;
  const auto begin = std::max(process.held_since, heard_at_);
  // A limit that the clock cannot hold is no limit.
  if (*options_.hold_limit > std::chrono::duration_cast<std::chrono::milliseconds>(no_deadline - begin)) {
    return no_deadline;
  }
  return begin + *options_.hold_limit;
}

const error* engine::lost(process_id id) const {
  const auto found = lost_.find(id);
  return found == lost_.end() ? nullptr : &found->second;
}

/// All processes are let go, also those that run: a breakpoint that one of them meets later would stop it for a tool
/// that does not answer.
void engine::give_up_waiting_for_tool() {
  tool_is_silent_ = true;
  std::vector<pid_t> all;
  for (const auto& [id, process] : processes_) all.push_back(id);
  for (const pid_t id : all) {
    const auto found = processes_.find(id);
    if (found == processes_.end()) continue;
    traced_process& process = found->second;
    const bool is_let_go = process.now == phase::released || process.now == phase::leaving;
    if (is_let_go || process.now == phase::launching || process.attaching || process.detaching) continue;
    const error why{error_code::limit,
                    fmt::format("process {} was let go: this program did not call its tracer for {} ms while "
                                "processes were stopped for it (tracer_options::hold_limit)",
                                id, options_.hold_limit->count())};
    begin_detach(process, {leave::running,
                           [this, id, why](const result<void>&) {
                             lost_.insert_or_assign(process_id{id}, why);
                             events_.push({process_id{id}, control_lost{why}});
                           },
                           true});
  }
}

}  // namespace mpiacq::tracing

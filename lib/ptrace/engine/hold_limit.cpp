// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/hold_limit.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace mpiacq::tracing {

void hold_limit::on_call(clock::time_point now) {
  called_at_ = now;
  is_silent_ = false;
}

deadline hold_limit::end_for(const traced_process& process) const {
  if (!options_.hold_limit || process.now != phase::held || is_leaving_) return no_deadline;
  const auto begin = std::max(process.held_since, called_at_);
  // A limit beyond the range of the clock means no limit.
  if (*options_.hold_limit > std::chrono::duration_cast<std::chrono::milliseconds>(no_deadline - begin)) {
    return no_deadline;
  }
  return begin + *options_.hold_limit;
}

error hold_limit::reason(pid_t process) const {
  return {error_code::limit, fmt::format("process {} was let go: this program did not call its tracer for {} ms while "
                                         "processes were stopped for it (tracer_options::hold_limit)",
                                         process, options_.hold_limit->count())};
}

const error* hold_limit::loss_of(process_id process) const {
  const auto found = lost_.find(process.value());
  return found == lost_.end() ? nullptr : &found->second;
}

}  // namespace mpiacq::tracing

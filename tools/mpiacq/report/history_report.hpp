// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include "mpiacq/job/rank_names.hpp"
#include "mpiacq/ranks/stack_history.hpp"
#include "report/json/json_parts.hpp"

namespace mpiacq::tool {

/// The samples of --every, when a report is made.
struct history_snapshot {
  std::chrono::duration<double> every{0};
  std::deque<history_sample> samples;  ///< the oldest first
  std::vector<rank_stay> stays;        ///< `stack_history::stays`
};

/// A line for the ranks at each place: for how long they have been there. Printable.
[[nodiscard]] std::string history_text(const history_snapshot& history, const rank_names& names);
/// The member `history` of a mpiacq.report/1 document.
[[nodiscard]] json json_of_history(const history_snapshot& history, const rank_names& names);

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What every judge uses. Judges are pure: observations in, a finding out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "mpiacq/check/check.hpp"

namespace mpiacq::check {

template <class... Args>
[[nodiscard]] finding passed(fmt::format_string<Args...> text, Args&&... args) {
  return {verdict::pass, fmt::format(text, std::forward<Args>(args)...)};
}
template <class... Args>
[[nodiscard]] finding failed(fmt::format_string<Args...> text, Args&&... args) {
  return {verdict::fail, fmt::format(text, std::forward<Args>(args)...)};
}
template <class... Args>
[[nodiscard]] finding not_applicable(fmt::format_string<Args...> text, Args&&... args) {
  return {verdict::not_applicable, fmt::format(text, std::forward<Args>(args)...)};
}

/// The document's name for a symbol.
[[nodiscard]] std::string_view name_of(mpir::known k);

/// "rank 3", "ranks 0, 2 and 5", "ranks 0, 1, 2 and 61 more"
[[nodiscard]] std::string rank_list(const std::vector<std::size_t>& ranks);

/// The ranks of this node for which something holds.
[[nodiscard]] std::vector<std::size_t> ranks_where(const observations& o,
                                                   const std::function<bool(const rank_seen&)>& holds);

/// Processes that were alive at the spawn event, and not the starter itself.
[[nodiscard]] inline bool is_live_rank(const rank_seen& r) {
  return r.alive && !r.is_starter;
}
/// It waited at the spawn event, so that going on can be told from staying.
[[nodiscard]] inline bool is_held(const rank_seen& r) {
  return is_live_rank(r) && (r.stopped || r.at_spawn == place::before_main || r.at_spawn == place::in_mpi_init);
}

inline constexpr std::string_view no_spawn_event = "no table was read at a spawn event";
/// The member pid cannot hold a process's number (9.2c): what it holds says nothing of any process.
[[nodiscard]] inline bool pid_is_narrow(const observations& o) {
  const structure_member* pid = o.defined.descriptor ? o.defined.descriptor->find("pid") : nullptr;
  return pid != nullptr && pid->size < 4;
}

inline constexpr std::string_view no_process_here = "no process of the table could be looked at on this node";

}  // namespace mpiacq::check

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/started_elsewhere.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mpiacq/base/remedies.hpp"

namespace mpiacq {

void started_elsewhere::add(process_id launcher, const std::string& host, deadline now) {
  if (hosts_.size() >= most_hosts || !hosts_.insert(host).second) return;
  if (named_.size() < most_hosts_named) named_.push_back(host);
  if (hosts_.size() > 1) return;
  launcher_ = launcher;
  first_ = now;
}

std::optional<error> started_elsewhere::take_problem() {
  if (hosts_.empty() || std::exchange(was_told_, true)) return std::nullopt;
  // The commands run side by side, so the order in which they were seen says nothing. n10 comes after n9.
  std::sort(named_.begin(), named_.end(),
            [](const std::string& a, const std::string& b) { return ::strverscmp(a.c_str(), b.c_str()) < 0; });
  const std::size_t unnamed = hosts_.size() - named_.size();
  return error(
      error_code::not_found,
      fmt::format("launch has seen no rank of the job on this node, and it reports the ranks of this node "
                  "alone: the launcher {} has started ssh to {}{}; attach to the job on one of these hosts, and {}",
                  launcher_.value(), fmt::join(named_, ", "), unnamed == 0 ? "" : fmt::format(" and {} more", unnamed),
                  remedies::name_hosts));
}

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/job_problems.hpp"

#include "commands/complaints.hpp"

namespace mpiacq::tool {

void job_problems::add(const error& what) {
  all_.push_back(what);
  if (waits_for_report_) return;
  complain(what);
  shown_ = all_.size();
}

std::vector<error> job_problems::for_report() {
  if (json_) return all_;
  const auto first = all_.begin() + static_cast<std::ptrdiff_t>(shown_);
  std::vector<error> shown(first, all_.end());
  shown_ = all_.size();
  // The next report may never come.
  waits_for_report_ = false;
  return shown;
}

void job_problems::wait_no_longer() {
  waits_for_report_ = false;
  for (; shown_ < all_.size(); ++shown_) complain(all_[shown_]);
}

}  // namespace mpiacq::tool

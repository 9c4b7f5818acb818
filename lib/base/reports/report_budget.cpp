// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "mpiacq/queues/queue_memory.hpp"

namespace mpiacq {

namespace {

/// No report is shortened below this size: a problem and the usual communicators fit into it.
constexpr std::uint64_t least_level = 4096;

constexpr std::string_view why_shortened =
    "this rank's queue library reported more than there is room for beside the reports of the other ranks; what comes "
    "first in its report is kept";

template <class Visit>
void for_each_group(const queue_report& report, Visit visit) {
  for (const queue_communicator& one : report.communicators) {
    if (one.group) visit(*one.group);
    if (one.remote_group) visit(*one.remote_group);
  }
}

/// The size without the groups.
std::uint64_t bytes_without_groups(const queue_report& report) {
  std::uint64_t bytes = bytes_held(report);
  for_each_group(report, [&](const group_members& members) { bytes -= bytes_held(members); });
  return bytes;
}

/// Takes elements in order while they fit. After the first one that does not fit, it takes none.
class shortener {
 public:
  explicit shortener(std::uint64_t bytes) : left_(bytes) {}
  template <class T>
  [[nodiscard]] bool fits(const T& one) {
    const std::uint64_t bytes = bytes_held(one);
    full_ = full_ || bytes > left_;
    if (!full_) left_ -= bytes;
    return !full_;
  }
  /// Returns false if some elements did not fit.
  template <class T>
  bool keep_first(std::vector<T>& all) {
    const auto end = std::find_if(all.begin(), all.end(), [this](const T& one) { return !fits(one); });
    if (end == all.end()) return true;
    all.erase(end, all.end());
    all.shrink_to_fit();
    return false;
  }
  void keep_first(std::vector<queue_communicator>& all) {
    auto one = all.begin();
    for (; one != all.end(); ++one) {
      // A communicator without its group is more useful than no communicator.
      if (bytes_held(*one) > left_) {
        one->group.reset();
        one->remote_group.reset();
      }
      if (!fits(*one)) break;
      for (queue_listing& queue : one->queues) {
        if (!keep_first(queue.operations) && queue.known == queue_knowledge::complete)
          queue.known = queue_knowledge::cut_short;
      }
    }
    all.erase(one, all.end());
    all.shrink_to_fit();
  }

 private:
  std::uint64_t left_;
  bool full_ = false;
};

void shorten(queue_report& report, std::uint64_t bytes) {
  const auto is_why = [](const error& problem) { return problem.message == why_shortened; };
  std::erase_if(report.problems, is_why);
  shortener room(bytes);
  room.keep_first(report.missing);
  room.keep_first(report.problems);
  room.keep_first(report.communicators);
  room.keep_first(report.new_processes);
  room.keep_first(report.notes);
  report.problems.emplace_back(error_code::limit, std::string(why_shortened));
}

}  // namespace

void report_budget::add(queue_report& report) {
  reports_.push_back(&report);
  held_ += bytes_without_groups(report);
  share(report);
  if (held_ > bytes_) make_room();
}

void report_budget::add(queue_communicator& called) {
  if (called_dropped_) {
    called.group.reset();
    called.remote_group.reset();
    return;
  }
  called_.push_back(&called);
  share(called);
  if (held_ > bytes_) make_room();
}

void report_budget::share(queue_report& report) {
  for (queue_communicator& one : report.communicators) share(one);
}

void report_budget::share(queue_communicator& one) {
  if (one.group) share(*one.group);
  if (one.remote_group) share(*one.remote_group);
}

void report_budget::share(group_members& members) {
  if (const auto at = known_.find(members.list()); at != known_.end()) {
    members = at->second.shared;
    return;
  }
  const std::size_t hash = members.hash();
  auto [at, end] = by_contents_.equal_range(hash);
  at = std::find_if(at, end, [&](const auto& one) { return one.second == members; });
  const bool is_new = at == end;
  // Computed before the copies below. A list that only this communicator holds cannot be passed in again.
  const bool may_come_again = is_new || members.is_shared();
  const group_members shared = is_new ? members : at->second;
  if (is_new) {
    by_contents_.emplace(hash, shared);
    held_ += bytes_held(shared);
  }
  if (may_come_again) known_.emplace(members.list(), same_lists{members, shared});
  members = shared;
}

/// Frees a quarter more than needed, so that the next reports do not require another pass over all reports.
void report_budget::make_room() {
  if (!called_.empty()) drop_called();
  if (held_ <= bytes_) return;
  const std::uint64_t enough = bytes_ - bytes_ / 4;
  shorten_larger_than(level_);
  while (held_ > enough && level_ > least_level) shorten_larger_than(level_ /= 2);
}

void report_budget::drop_called() {
  called_dropped_ = true;
  for (queue_communicator* one : called_) {
    one->group.reset();
    one->remote_group.reset();
  }
  called_.clear();
  count_anew();
}

/// Each communicator's share of a common list counts: a rank of a large job has a long group, and is not large because
/// of that.
void report_budget::shorten_larger_than(std::uint64_t bytes) {
  std::unordered_map<const void*, std::uint64_t> users;
  for (const queue_report* one : reports_) {
    for_each_group(*one, [&](const group_members& members) { ++users[members.list()]; });
  }
  for (queue_report* one : reports_) {
    std::uint64_t held = bytes_without_groups(*one);
    for_each_group(*one, [&](const group_members& members) { held += bytes_held(members) / users[members.list()]; });
    if (held > bytes) shorten(*one, bytes);
  }
  count_anew();
}

void report_budget::count_anew() {
  known_.clear();
  by_contents_.clear();
  held_ = 0;
  for (queue_report* one : reports_) {
    held_ += bytes_without_groups(*one);
    share(*one);
  }
}

}  // namespace mpiacq

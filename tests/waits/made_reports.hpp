// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Reports of ranks' queues, made up.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "mpiacq/queues/queue_waits.hpp"

namespace mpiacq::test {

inline constexpr std::int64_t any_source = -1;
inline constexpr std::int64_t any_tag = -1'000'000;

inline queue_operation operation(std::int64_t peer_rank, std::int64_t tag) {
  queue_operation made;
  if (peer_rank == any_source) {
    made.desired.any = true;
  } else {
    made.desired.local = peer_rank;
  }
  if (tag != any_tag) made.tag = tag;
  return made;
}

/// A job of which every queue is known, and in which nothing happens until somebody says so.
class made_job {
 public:
  explicit made_job(std::uint32_t size) {
    std::vector<std::int64_t> all(size);
    std::iota(all.begin(), all.end(), 0);
    for (std::uint32_t i = 0; i < size; ++i) {
      ranks_.push_back({entry_index{i}, process_id{1000 + i}, queue_report{}, {mpi_call_kind::none, "", false}});
    }
    add_communicator(1, "MPI_COMM_WORLD", all);
  }

  /// Of these, in the order of their ranks in it.
  void add_communicator(std::uint64_t id, const std::string& name, const std::vector<std::int64_t>& group,
                        bool told = true) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      queue_communicator one;
      one.id = id;
      one.name = name;
      one.local_rank = static_cast<std::int64_t>(i);
      one.size = static_cast<std::int64_t>(group.size());
      if (told) one.group = group;
      for (queue_listing& queue : one.queues) queue.known = queue_knowledge::complete;
      ranks_[static_cast<std::size_t>(group[i])].report->communicators.push_back(one);
    }
  }

  /// Two groups that talk to each other alone. `told`: each side knows who is on the other one.
  void add_intercommunicator(std::uint64_t id, const std::vector<std::int64_t>& one,
                             const std::vector<std::int64_t>& other, bool told = true) {
    const auto add = [&](const auto& group, const auto& remote) {
      add_communicator(id, "between", group);
      for (const std::int64_t member : group) {
        queue_communicator& last = ranks_[static_cast<std::size_t>(member)].report->communicators.back();
        last.is_inter = true;
        if (told) last.remote_group = remote;
      }
    };
    add(one, other);
    add(other, one);
  }

  /// On the communicator of this place among the rank's own; the peer by its rank in that.
  made_job& send(std::uint32_t from, std::int64_t to, std::int64_t tag, std::size_t place = 0) {
    communicator(from, place).of(queue_class::sends).operations.push_back(operation(to, tag));
    return *this;
  }
  made_job& receive(std::uint32_t at, std::int64_t from, std::int64_t tag, std::size_t place = 0) {
    communicator(at, place).of(queue_class::receives).operations.push_back(operation(from, tag));
    return *this;
  }
  made_job& in(std::uint32_t rank, const std::string& function) {
    ranks_[rank].doing = activity_in(function);
    return *this;
  }
  made_job& at(std::uint32_t rank, const std::string& file, std::uint32_t line) {
    ranks_[rank].doing.at = {"solve", file, line};
    return *this;
  }
  made_job& threads(std::uint32_t rank) {
    ranks_[rank].doing.other_threads = true;
    return *this;
  }
  made_job& unreadable(std::uint32_t rank) {
    ranks_[rank].report = fail(error_code::process_gone, "it has ended");
    return *this;
  }

  /// By a signal.
  made_job& stopped(std::uint32_t rank) {
    ranks_[rank].stopped_by_signal = true;
    return *this;
  }
  made_job& ended(std::uint32_t rank) {
    unreadable(rank);
    ranks_[rank].doing = {mpi_call_kind::ended, "", false};
    return *this;
  }

  queue_communicator& communicator(std::uint32_t rank, std::size_t place) {
    return ranks_[rank].report->communicators[place];
  }
  std::vector<rank_report>& ranks() { return ranks_; }
  [[nodiscard]] queue_waits waits() const { return find_waits(ranks_); }
  [[nodiscard]] queue_waits waits_without_stacks() const {
    auto ranks = ranks_;
    for (rank_report& rank : ranks) rank.doing = {};
    return find_waits(ranks);
  }

 private:
  std::vector<rank_report> ranks_;
};

/// "0>1 1>any 2,3?": who, whom ("any" of, where one is enough), a mark where it only may be.
inline std::string text_of(const std::vector<rank_wait>& waits) {
  std::string text;
  for (const rank_wait& wait : waits) {
    if (!text.empty()) text += ' ';
    text +=
        std::to_string(wait.from.value()) + (wait.any_of ? ">any:" : ">") + wait.to.text() + (wait.certain ? "" : "?");
  }
  return text;
}

/// "0>1>2 (3-4); 5,6?": rings with arrows, other knots with commas, who is behind in parentheses.
inline std::string text_of(const std::vector<deadlock>& deadlocks) {
  std::string text;
  for (const deadlock& found : deadlocks) {
    if (!text.empty()) text += "; ";
    std::string one;
    for (const entry_index entry : found.ranks) {
      one += (one.empty() ? "" : found.is_ring ? ">" : ",") + std::to_string(entry.value());
    }
    text += one;
    if (!found.behind.empty()) text += " (" + found.behind.text() + ")";
    if (!found.certain) text += "?";
  }
  return text;
}

inline bool says(const std::vector<std::string>& doubts, const std::string& part) {
  for (const std::string& doubt : doubts) {
    if (doubt.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace mpiacq::test

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "report_sink.hpp"

namespace mpiacq::mqd_host {

void report_builder::library(library_facts&& facts) {
  report_.library_version = std::move(facts.version);
  report_.compatibility = facts.compatibility;
  report_.unit = facts.unit;
}

void report_builder::communicator(queue_communicator&& c) {
  close_queues();
  report_.communicators.push_back(std::move(c));
  queues_.fill(progress::not_begun);
}

void report_builder::queue_begins(queue_class which) {
  if (report_.communicators.empty()) return;
  current_ = which;
  queues_[static_cast<std::size_t>(which)] = progress::begun;
}

void report_builder::operation(queue_operation&& op) {
  if (report_.communicators.empty()) return;
  if (queues_[static_cast<std::size_t>(current_)] != progress::begun) return;
  report_.communicators.back().of(current_).operations.push_back(std::move(op));
}

void report_builder::queue_ends(queue_class which, queue_knowledge known) {
  if (report_.communicators.empty()) return;
  report_.communicators.back().of(which).known = known;
  queues_[static_cast<std::size_t>(which)] = progress::ended;
}

// What began and did not end was cut short, and what never began is not known because of that.
void report_builder::close_queues() {
  if (report_.communicators.empty()) return;
  for (const queue_class c : all_queue_classes) {
    const progress got_to = queues_[static_cast<std::size_t>(c)];
    if (got_to == progress::ended) continue;
    report_.communicators.back().of(c).known =
        got_to == progress::begun ? queue_knowledge::cut_short : queue_knowledge::failed;
  }
  queue_communicator& last = report_.communicators.back();
  if (names_a_rank_beyond(last)) make_inter(last, {});
}

result<queue_report> report_builder::finish(result<void> how_it_ended) {
  close_queues();
  if (!how_it_ended) {
    if (!has_queues_ && report_.missing.empty()) return fail(std::move(how_it_ended.error()));
    report_.problems.push_back(std::move(how_it_ended.error()));
  }
  return std::move(report_);
}

}  // namespace mpiacq::mqd_host

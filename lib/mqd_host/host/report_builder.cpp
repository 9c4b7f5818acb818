// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <fmt/format.h>

#include "library/report_sink.hpp"

namespace mpiacq::mqd_host {

namespace {

constexpr unsigned megabyte_bits = 20;

}  // namespace

bool report_builder::make_room(std::uint64_t bytes) {
  if (full_) return false;
  if (bytes > left_) {
    full_ = error{error_code::limit, fmt::format("this rank's queue library reported more than {} MB; what came before "
                                                 "that is kept",
                                                 room_ >> megabyte_bits)};
  } else {
    left_ -= bytes;
  }
  return !full_;
}

void report_builder::process(new_process&& p) {
  if (make_room(bytes_held(p))) report_.new_processes.push_back(std::move(p));
}

void report_builder::missing(missing_type&& m) {
  if (make_room(bytes_held(m))) report_.missing.push_back(std::move(m));
}

void report_builder::note(std::string&& text) {
  if (make_room(bytes_held(text))) report_.notes.push_back(std::move(text));
}

void report_builder::library(library_facts&& facts) {
  report_.library_version = std::move(facts.version);
  report_.compatibility = facts.compatibility;
  report_.unit = facts.unit;
}

void report_builder::problem(error&& e) {
  if (make_room(bytes_held(e))) report_.problems.push_back(std::move(e));
}

void report_builder::communicator(queue_communicator&& c) {
  if (!make_room(bytes_held(c))) return;
  close_queues();
  report_.communicators.push_back(std::move(c));
  queues_.fill(progress::not_begun);
}

void report_builder::queue_begins(queue_class which) {
  if (full_ || report_.communicators.empty()) return;
  current_ = which;
  queues_[static_cast<std::size_t>(which)] = progress::begun;
}

void report_builder::operation(queue_operation&& op) {
  if (report_.communicators.empty()) return;
  if (queues_[static_cast<std::size_t>(current_)] != progress::begun || !make_room(bytes_held(op))) return;
  report_.communicators.back().of(current_).operations.push_back(std::move(op));
}

void report_builder::queue_ends(queue_class which, queue_knowledge known) {
  if (full_ || report_.communicators.empty()) return;  // a queue that was open when the report became full is cut short
  report_.communicators.back().of(which).known = known;
  queues_[static_cast<std::size_t>(which)] = progress::ended;
}

// A queue that began and did not end is cut short. A queue that never began is unknown for the same reason.
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
    // A report that is full has this problem already.
    if (!full_ || how_it_ended.error().message != full_->message)
      report_.problems.push_back(std::move(how_it_ended.error()));
  }
  if (full_) report_.problems.push_back(std::move(*full_));
  return std::move(report_);
}

}  // namespace mpiacq::mqd_host

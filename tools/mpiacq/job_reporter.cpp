// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "job_reporter.hpp"

#include <fmt/format.h>

#include "commands.hpp"

namespace mpiacq::tool {

void job_reporter::report(job_snapshot::event what, std::optional<std::string> reason) {
  const job_snapshot snapshot{what, std::move(reason), job_, problems_};
  note_failure(report_.write(options_.json ? job_json(snapshot) : job_text(snapshot)));
}

void job_reporter::problem(const error& what) {
  problems_.push_back(what);
  complain(what);
}

void job_reporter::note_failure(const result<void>& done) {
  if (done) return;
  complain(done.error());
  note_failure();
}

void job_reporter::note_failure() {
  failed_ = true;
}

void job_reporter::hold_ranks(job& subject) {
  for (const rank_outcome& outcome : subject.hold_ranks()) {
    // What is on another node is told by its state.
    if (outcome.held || outcome.held.error().code == error_code::unsupported) continue;
    problem(error{outcome.held.error()}.while_doing(fmt::format("holding rank {}", outcome.rank)));
  }
}

}  // namespace mpiacq::tool

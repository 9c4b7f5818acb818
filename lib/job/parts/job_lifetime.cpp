// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/job_lifetime.hpp"

#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "proc/process_state.hpp"

namespace mpiacq {

job_lifetime::job_lifetime(process_id root, bool is_launched)
    : is_launched_(is_launched),
      phase_(is_launched ? job_phase::controlled : job_phase::attaching),
      root_(root),
      root_descriptor_(open_process(root)),
      starter_descriptor_(open_process(root)) {}

result<void> job_lifetime::is_made_here() const {
  if (is_own()) return {};
  return fail(error_code::invalid_argument,
              fmt::format("process {} is a fork of process {}, which controls this job: only process {} can do this",
                          ::getpid(), made_in_, made_in_));
}

bool job_lifetime::take_first_table() {
  if (phase_ != job_phase::attaching) return false;
  phase_ = job_phase::controlled;
  return true;
}

void job_lifetime::let_go() {
  if (is_controlled()) phase_ = job_phase::let_go;
}

void job_lifetime::lose() {
  if (is_controlled()) phase_ = is_launched_ ? job_phase::lost : job_phase::ended;
}

void job_lifetime::set_starter(process_id starter) {
  starter_descriptor_ = open_process(starter);
}

void job_lifetime::process_ended(process_id process, const exit_status& status) {
  if (process == root_) root_status_ = status;
}

void job_lifetime::signal_root(int signal) {
  signal_process(root_descriptor_, signal);
}

void job_lifetime::ask_to_end(std::vector<base::unique_fd> ranks) {
  for (base::unique_fd& rank : ranks) ranks_to_kill_.push_back(std::move(rank));
  signal_process(starter_descriptor_, SIGTERM);
  // A stopped starter takes SIGTERM only when it is continued.
  signal_process(starter_descriptor_, SIGCONT);
}

void job_lifetime::kill() {
  signal_process(starter_descriptor_, SIGKILL);
  signal_process(root_descriptor_, SIGKILL);
}

std::optional<exit_status> job_lifetime::finish() {
  if (has_ended() || !root_status_) return std::nullopt;
  phase_ = job_phase::ended;
  for (const base::unique_fd& rank : std::exchange(ranks_to_kill_, {})) signal_process(rank, SIGKILL);
  return root_status_;
}

}  // namespace mpiacq

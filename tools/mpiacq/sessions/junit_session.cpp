// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/junit_session.hpp"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "commands/exit_status.hpp"
#include "errors/try.hpp"
#include "proc/local_host.hpp"
#include "report/junit_report.hpp"

namespace mpiacq::tool {

namespace {

std::string case_name(const watch_options& options) {
  std::string name;
  for (const std::string& word : options.starter.words) name += (name.empty() ? "" : " ") + word;
  if (!name.empty()) return name;
  if (!options.job) return "the only job on this node";
  if (const auto* pid = std::get_if<process_id>(&*options.job)) return fmt::format("job {}", pid->value());
  return "job slurm:" + std::get<slurm_job>(*options.job).text();
}

/// What a job without a report has done wrong.
void judge_end(junit_case& done, const std::optional<exit_status>& starter, const result<int>& status) {
  if (!status) {
    done.outcome = junit_outcome::error;
    done.kind = "mpiacq";
    done.message = status.error().message;
  } else if (starter && starter->as_shell() == *status) {
    done.outcome = junit_outcome::failed;
    done.kind = starter->signaled ? "signal" : "exit-status";
    done.message = starter->signaled ? fmt::format("signal {} ended the starter", starter->value)
                                     : fmt::format("the starter ended with exit status {}", starter->value);
  } else {
    done.outcome = junit_outcome::error;
    done.kind = "mpiacq";
    done.message = fmt::format("mpiacq ended with exit status {}: its reason is on standard error", *status);
  }
}

}  // namespace

result<junit_session> junit_session::begin(const watch_options& options) {
  junit_session begun;
  if (!options.watch.junit.empty()) begun.file_ = TRY(whole_file::open(options.watch.junit));
  return begun;
}

void junit_session::end(const watch_options& options, const job_watcher& watcher, const result<int>& status) const {
  if (!file_) return;
  const watched_end& seen = watcher.outcome();
  junit_case done;
  done.name = case_name(options);
  done.began = began_;
  done.took = std::chrono::system_clock::now() - began_;
  done.host = local_host::of_this_system().name();
  done.found = seen.found;
  // A starter may hide that one of its ranks has failed.
  const bool has_failed_rank = seen.found && seen.found->cause == report_cause::crash;
  if (status && *status == status_ok && !has_failed_rank) {
    done.outcome = junit_outcome::passed;
  } else if (seen.found && status && *status != status_tool_failed) {
    done.outcome = junit_outcome::failed;
    done.kind = name(seen.found->cause);
    done.message = seen.sentence;
  } else {
    judge_end(done, seen.starter, status);
  }
  file_->write([done = std::move(done)](report_stream& out) { write_junit(out, done); });
}

}  // namespace mpiacq::tool

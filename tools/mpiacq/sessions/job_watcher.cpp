// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/job_watcher.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "commands/complaints.hpp"
#include "report/call_chains.hpp"
#include "report/output_queue.hpp"
#include "report/report_form.hpp"
#include "report/text/standing_text.hpp"
#include "sessions/report_folder.hpp"
#include "sessions/report_session.hpp"
#include "sessions/session_wait.hpp"

namespace mpiacq::tool {

namespace {

/// After a failure, the job mostly ends at once.
constexpr std::chrono::seconds between_end_checks{1};

clock::duration as_duration(double seconds) {
  return std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
}

std::string seconds_text(clock::duration time) {
  return fmt::format("{:.0f} s", std::chrono::duration<double>(time).count());
}

}  // namespace

job_watcher::job_watcher(const watch_options& options, report_file& text, int stop)
    : options_(options), text_(text), stop_(stop), report_by_(deadline_after(options.watch.timeout)) {}

void job_watcher::begin(ranks_look look) {
  look_ = std::move(look);
  job_watch_options how;
  // Without --hang, the looks only notice the end of the ranks.
  constexpr double seldom = 86400;
  how.hang = as_duration(options_.watch.hang.value_or(seldom));
  watch_ = std::make_unique<job_watch>(*look_->ranks, how);
  if (options_.watch.crash) {
    // A launcher may have stopped its new ranks. Other ranks may be stopped because their user wants it.
    const follow_options follow = {.continue_stopped = !options_.starter.words.empty()};
    crash_ = std::make_unique<crash_follower>(look_->ranks, look_->job.processes->names(), follow);
  }
  if (options_.watch.every) next_sample_ = clock::now();
}

int job_watcher::descriptor() const {
  return crash_ ? crash_->descriptor() : -1;
}

deadline job_watcher::wake_at() const {
  if (!watch_ || ended_) return no_deadline;
  return is_asked_ ? clock::now()
                   : std::min({report_by_, watch_->look_at(), next_sample_, next_end_check_,
                               crash_ ? crash_->wake_at() : no_deadline});
}

bool job_watcher::takes(int signal) {
  if (options_.watch.signal == 0 || signal != options_.watch.signal || ended_) return false;
  is_asked_ = true;
  return true;
}

bool job_watcher::serve() {
  if (!watch_ || ended_) return false;
  if (crash_) {
    const auto ends = crash_->serve();
    // The looks may be rare. They notice the end of the job.
    if (ends || crash_->has_nobody_left()) next_end_check_ = std::min(next_end_check_, clock::now());
    if (ends) report_crash(*ends);
  }
  if (is_asked_) {
    is_asked_ = false;
    report(report_cause::asked, "asked by a signal");
    return true;
  }
  if (clock::now() >= report_by_) {
    report_by_ = no_deadline;
    const watch_request& asked = options_.watch;
    report(report_cause::timeout,
           asked.limit.empty() ? fmt::format("watched for {:g} s", *asked.timeout) : asked.limit);
    return true;
  }
  if (clock::now() >= next_sample_) take_sample();
  const bool checks_end = clock::now() >= next_end_check_;
  if (checks_end) next_end_check_ = clock::now() + between_end_checks;
  if (!checks_end && clock::now() < watch_->look_at()) return false;
  const auto seen = watch_->look(stop_);
  if (!seen) return false;
  if (std::holds_alternative<ranks_have_ended>(*seen)) {
    ended_ = true;
    return false;
  }
  const auto& still = std::get<job_stands_still>(*seen);
  if (!options_.watch.hang) return false;
  report(report_cause::hang, "no rank has moved for " + seconds_text(still.since), &still);
  return true;
}

void job_watcher::take_sample() {
  history_.look(*look_->ranks);
  next_sample_ = clock::now() + as_duration(*options_.watch.every);
}

void job_watcher::serve_last() {
  if (!crash_) return;
  if (const auto ends = crash_->serve_last()) report_crash(*ends);
  crash_.reset();
}

void job_watcher::report(report_cause cause, const std::string& what, const job_stands_still* still) {
  // The last sample is of the moment of the report.
  if (options_.watch.every) take_sample();
  report_look done = look_for_report(*look_, options_.queue, false);
  done.found.cause = cause;
  if (still != nullptr) {
    job_stands_still also = *still;
    if (done.found.why.basis == verdict_basis::stopped) also.stopped = also.stopped.without(done.found.why.ranks);
    done.found.why.sentence += standing_text(also, done.found.queues.names);
  }
  if (options_.after != then::go_on) crash_.reset();  // what the user has asked for ends the ranks, or stops them
  write(std::move(done), what);
}

/// The ranks are released before anything is written.
void job_watcher::report_crash(const group_ends& ends) {
  // Agents write core files where this program does: they need the whole path. Without a folder there are no core
  // files.
  std::error_code unknown_here;
  const auto folder = std::filesystem::absolute(options_.watch.folder, unknown_here).lexically_normal().string();
  report_look done = look_for_crash(*look_, ends, options_.watch.cores, folder);
  crash_.reset();
  write(std::move(done), "a rank has failed");
}

void job_watcher::write(report_look done, const std::string& what) {
  if (options_.watch.every) {
    done.found.history = {std::chrono::duration<double>(*options_.watch.every), history_.samples(), history_.stays()};
  }
  const auto found = std::make_shared<const findings>(std::move(done.found));
  std::string where;
  const auto as_text = [found, text = text_, colour = text_.wants_colour()] {
    text.write([found, colour](report_stream& out) { write_in_form(out, *found, report_form::text, colour); });
  };
  // A report that cannot be kept is shown. The status stays that of a starter, which has done nothing wrong.
  const auto is_kept = std::make_shared<std::atomic<bool>>(true);
  const auto otherwise = [as_text, is_kept, has_starter = !options_.starter.words.empty()] {
    *is_kept = false;
    complain("the report follows as text");
    as_text();
    if (!has_starter) the_output().note_failure();
  };
  if (options_.watch.folder.empty()) {
    as_text();
  } else if (const auto written = write_report_folder(options_.watch.folder, found, otherwise)) {
    where = fmt::format(" (report in {})", options_.watch.folder);
  } else {
    complain(written.error());
    otherwise();
  }
  outcome_.found = found;
  outcome_.sentence = fmt::format("{}: {}", what, found->why.sentence);
  // Whether the files are there is known when they have been written, on the thread that writes all output.
  the_output().add(
      [is_kept, sentence = outcome_.sentence, where] { complain(*is_kept ? sentence + where : sentence); });
}

}  // namespace mpiacq::tool

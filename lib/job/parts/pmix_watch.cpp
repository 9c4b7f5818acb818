// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/pmix_watch.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>

#include "errors/try.hpp"
#include "host/daemon_command.hpp"
#include "mpiacq/ranks/rank_set.hpp"
#include "proc/process_state.hpp"
#include "separate/pmix_abi.hpp"

namespace mpiacq {

namespace {

/// PMIX_PROC_STATE_TERMINATED and all states above it.
constexpr std::uint8_t terminated = 20;
/// PMIX_PROC_STATE_ERROR and all states above it: the process did not end by itself.
constexpr std::uint8_t ended_in_error = 50;
constexpr int most_refusals = 5;
/// PF_EXITING of include/linux/sched.h.
constexpr std::uint64_t exiting = 4;

/// A server of PMIx 5.0.7 that ends while it takes a question stays for ever: PMIx_server_finalize holds a lock, and
/// waits for the thread that needs this lock for the question. What ends a job ends its server soon, and no question is
/// asked meanwhile. A server that is there after so long goes on.
constexpr std::chrono::seconds quiet_after_an_end{5};

/// The server's last events may reach the helper a little after the starter's end reaches this program.
constexpr std::chrono::milliseconds patience_with_last_events{500};

bool is_readable(int descriptor, std::chrono::milliseconds within = {}) {
  pollfd one{descriptor, POLLIN, 0};
  return ::poll(&one, 1, static_cast<int>(within.count())) > 0;
}

bool is_on_several_nodes(const job_description& job) {
  for (const entry_index one : job.processes->entries()) {
    if (!job.is_local(one)) return true;
  }
  return false;
}

}  // namespace

pmix_watch::pmix_watch(pmix_place place, pmix::pmix_session session)
    : place_(std::move(place)), session_(std::move(session)), any_(::epoll_create1(EPOLL_CLOEXEC)) {}

result<std::unique_ptr<pmix_watch>> pmix_watch::start(pmix_place place, const pmix::session_limits& limits) {
  auto session = TRY(pmix::pmix_session::begin_start(place.server, limits));
  session.connect();
  auto made = TRY(begin_start(std::move(place), std::move(session)));
  made->hears_ends_ = false;
  TRY(made->finish_start());
  return made;
}

result<std::unique_ptr<pmix_watch>> pmix_watch::begin_start(pmix_place place, pmix::pmix_session session) {
  std::unique_ptr<pmix_watch> made(new pmix_watch(std::move(place), std::move(session)));
  made->starter_ = TRY(made->place_.server.process->open_pidfd());
  if (!made->any_) return fail(error{error_code::system, "cannot make an epoll descriptor"}.with_errno(errno));
  made->add(made->starter_.get());
  made->add(made->session_->descriptor());
  return made;
}

result<void> pmix_watch::finish_start() {
  TRY(session_->finish_start({}));
  auto all = TRY(session_->ask_and_follow({}, hears_ends_));
  return take_first(std::move(all));
}

result<void> pmix_watch::hear_ends_if_needed() {
  if (hears_ends_ || (!is_on_several_nodes(first_) && !pmix::known_harm_of(place_.server))) return {};
  hears_ends_ = true;
  auto all = TRY(session_->ask_and_follow({}));
  return take_first(std::move(all));
}

result<void> pmix_watch::renew_first() {
  auto all = TRY(session_->ask({}));
  return take_first(std::move(all));
}

result<void> pmix_watch::take_first(pmix::pmix_answer all) {
  auto answer = TRY(chosen_pmix_job(place_, std::move(all)));
  keep_pids(answer);
  keep_worlds(answer);
  nspace_ = answer.worlds.front().nspace;
  // Daemons that the server starts later are a job of their own there.
  place_.nspace = nspace_;
  first_ = description_of(place_, std::move(answer));
  keep_table(first_);
  return {};
}

void pmix_watch::keep_worlds(const pmix::pmix_answer& job) {
  worlds_.clear();
  for (const pmix::pmix_world& one : job.worlds) worlds_.insert(one.nspace);
}

void pmix_watch::keep_table(const job_description& job) {
  table_ = job.processes;
  running_.clear();
  for (const entry_index one : table_->entries()) {
    if (job.is_local(one) && table_->pid(one).value() > 0) running_.push_back(table_->pid(one));
  }
}

void pmix_watch::add(int descriptor) {
  epoll_event what{};
  what.events = EPOLLIN;
  what.data.fd = descriptor;
  (void)::epoll_ctl(any_.get(), EPOLL_CTL_ADD, descriptor, &what);
}

void pmix_watch::joined_with(int other) {
  add(other);
}

void pmix_watch::begin_end() {
  if (session_) session_->begin_end();
}

void pmix_watch::lose(error why, news& into) {
  (void)::epoll_ctl(any_.get(), EPOLL_CTL_DEL, session_->descriptor(), nullptr);
  session_.reset();
  why.message = fmt::format("PMIx tells no more of this job: {}", why.message);
  into.notices.push_back(std::move(why));
}

result<void> pmix_watch::launch_daemons(const mpir::daemon_request& what) {
  if (!session_) return fail(error_code::process_gone, "PMIx tells no more of this job");
  const auto command = pmix::daemon_that_runs(what.path, what.arguments, what.forward_output);
  daemons_.insert(TRY(session_->launch(nspace_, command, {})));
  return {};
}

void pmix_watch::take_events(news& into) {
  for (;;) {
    auto event = session_->event();
    if (!event) return lose(std::move(event).error(), into);
    if (!*event) return;
    is_disconnected_ = is_disconnected_ || (*event)->code == pmix::abi::lost_connection;
    if ((*event)->code != pmix::abi::job_end) continue;
    const pmix::process_name& source = (*event)->source;
    if (daemons_.contains(source.nspace)) continue;
    ended_worlds_.insert(source.nspace);
    if (worlds_.contains(source.nspace)) quiet_until_ = clock::now() + quiet_after_an_end;
    const auto& affected = (*event)->affected;
    const bool names_rank = affected && affected->rank <= INT32_MAX;
    // PRRTE's own daemons are a namespace whose number is 0.
    if (source.nspace.ends_with("@0") || (!tells_usual_ends_ && !names_rank)) continue;
    into.notices.emplace_back(error_code::process_gone,
                              fmt::format("the ranks of {} have ended{}", source.nspace,
                                          names_rank ? fmt::format("; rank {} caused it", affected->rank) : ""));
  }
}

/// A server forgets the pid of a rank that has ended. The rank stays in the table as it was.
void pmix_watch::keep_pids(pmix::pmix_answer& job) {
  for (pmix::pmix_world& world : job.worlds) {
    for (pmix::process_row& one : world.ranks) {
      std::int64_t& known = pids_[{world.nspace, one.rank}];
      if (one.pid > 0) known = one.pid;
      one.pid = known;
    }
  }
}

void pmix_watch::note_ended_ranks(const pmix::pmix_answer& job, news& into) {
  for (const pmix::pmix_world& world : job.worlds) {
    rank_set by_themselves, in_error;
    for (const pmix::process_row& one : world.ranks) {
      if (one.state < terminated || !ended_.emplace(world.nspace, one.rank).second) continue;
      (one.state >= ended_in_error ? in_error : by_themselves).add(one.rank);
    }
    const auto note = [&](const rank_set& ranks, std::string_view one_has, std::string_view several_have) {
      if (ranks.empty()) return;
      const bool is_one = ranks.count() == 1;
      into.notices.emplace_back(error_code::process_gone,
                                fmt::format("rank{} {} of {} {}", is_one ? "" : "s", ranks.text(), world.nspace,
                                            is_one ? one_has : several_have));
    };
    note(in_error, "was ended, or has ended with an error", "were ended, or have ended with an error");
    if (tells_usual_ends_) note(by_themselves, "has ended", "have ended");
  }
}

void pmix_watch::ask(news& into) {
  auto all = session_->ask({});
  if (!all) {
    // Events that came before the failure count. A server that ends refuses questions before its end is seen.
    take_events(into);
    if (session_ && (session_->is_over() || ++refusals_ == most_refusals)) lose(std::move(all).error(), into);
    return;
  }
  refusals_ = 0;
  auto job = chosen_pmix_job(place_, std::move(*all));
  // A server that has ended its job runs none any more.
  if (!job) return;
  keep_pids(*job);
  keep_worlds(*job);
  note_ended_ranks(*job, into);
  const job_description now = description_of(place_, std::move(*job));
  if (table_->same_processes(*now.processes)) return;
  keep_table(now);
  into.table = table_;
}

/// A rank that a tracer holds may be about to end: the tracer of `watch --crash` stops it then, and the server does not
/// wait for it.
bool pmix_watch::may_ask() {
  bool is_held = false;
  const auto gone = std::erase_if(running_, [&](process_id rank) {
    const auto now = stat_of(rank);
    is_held = is_held || (now && now->run() == run_state::traced);
    return now ? now->has_ended() || (now->flags & exiting) != 0 : now.error().code == error_code::process_gone;
  });
  if (gone > 0) quiet_until_ = clock::now() + quiet_after_an_end;
  return !is_held && clock::now() >= quiet_until_;
}

/// PRRTE 5.0rc does not end while a tool is connected, also when its job has ended.
void pmix_watch::leave_if_over() {
  if (!session_ || tells_usual_ends_) return;
  if (!std::includes(ended_worlds_.begin(), ended_worlds_.end(), worlds_.begin(), worlds_.end())) return;
  (void)::epoll_ctl(any_.get(), EPOLL_CTL_DEL, session_->descriptor(), nullptr);
  session_.reset();
}

pmix_watch::news pmix_watch::look(bool asks) {
  news found;
  found.has_ended = is_readable(starter_.get());
  if (session_) take_events(found);
  leave_if_over();
  if (session_ && asks && !found.has_ended && may_ask()) ask(found);
  if (!is_readable(starter_.get())) return found;
  found.has_ended = true;
  const deadline by = clock::now() + patience_with_last_events;
  while (session_ && !is_disconnected_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(by - clock::now());
    if (left.count() <= 0 || !is_readable(session_->descriptor(), left)) break;
    take_events(found);
  }
  // The connection ends with the starter, and that is no problem.
  std::erase_if(found.notices, [](const error& one) { return one.code != error_code::process_gone; });
  return found;
}

}  // namespace mpiacq

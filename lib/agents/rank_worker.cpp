// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "rank_worker.hpp"

#include <cerrno>
#include <csignal>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

#include "mpiacq/job_ranks.hpp"

namespace mpiacq::agents {

namespace {

void wake(int fd) {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(fd, &one, sizeof one));
}

/// What looking into ranks needs beside the question.
struct looking {
  int stop = -1;
  std::string queue_host;
};

answer_body answer_to(node_ranks& ranks, const ask_hold&, const looking&) {
  hold_part part;
  for (rank_hold& rank : ranks.hold()) {
    if (rank.state == hold_state::held) part.held.add(rank.rank);
    if (rank.state != hold_state::held || rank.why) part.others.push_back(std::move(rank));
  }
  return part;
}

answer_body answer_to(node_ranks& ranks, const ask_release& what, const looking&) {
  release_part part;
  const auto outcomes = ranks.release(what.how);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const std::uint32_t rank = ranks.ranks()[i].rank;
    if (outcomes[i]) {
      part.released.add(rank);
    } else {
      part.refused.push_back({rank_set(rank), outcomes[i].error()});
    }
  }
  return part;
}

answer_body answer_to(node_ranks& ranks, const ask_stacks& what, const looking&) {
  job_stacks seen = merged(ranks.stacks(what.how));
  stacks_part part{std::move(seen.tree), std::move(seen.taken), {}, seen.held_for, std::move(seen.problems)};
  for (refused_ranks& refused : seen.refused)
    part.refused.push_back({std::move(refused.ranks), std::move(refused.why)});
  return part;
}

answer_body answer_to(node_ranks& ranks, const ask_queues& what, const looking& how_to) {
  rank_queue_options how;
  how.ranks = what.ranks;
  how.library = what.library;
  how.types.file = what.types;
  how.types.debug_files.debuginfod = false;
  how.host.trust_library = what.trust_library;
  how.host.stop = how_to.stop;
  how.host.helper = how_to.queue_host;
  how.stacks = what.stacks;
  how.job_size = what.job_size;
  return ranks.queues(how);
}

answer_body refuse(const std::vector<rank_process>& ranks, const ask_hold&, const error& why) {
  hold_part part;
  for (const rank_process& rank : ranks) part.others.push_back({rank.rank, rank.pid, hold_state::failed, why});
  return part;
}

refused_part all_refused(const std::vector<rank_process>& ranks, const rank_selection& which, const error& why) {
  refused_part refused{{}, why};
  for (const rank_process& rank : ranks) {
    if (which.contains(rank.rank)) refused.ranks.add(rank.rank);
  }
  return refused;
}

answer_body refuse(const std::vector<rank_process>& ranks, const ask_release&, const error&) {
  // Nobody holds them.
  return release_part{all_refused(ranks, {}, {}).ranks, {}};
}

answer_body refuse(const std::vector<rank_process>& ranks, const ask_stacks& what, const error& why) {
  stacks_part part;
  part.refused.push_back(all_refused(ranks, what.how.ranks, why));
  return part;
}

answer_body refuse(const std::vector<rank_process>& ranks, const ask_queues& what, const error& why) {
  node_queues part;
  for (const rank_process& rank : ranks) {
    if (!what.ranks.contains(rank.rank)) continue;
    part.ranks.push_back({rank.rank, rank.pid, fail(why)});
    part.doing.emplace_back();
    part.pml.emplace_back();
  }
  return part;
}

}  // namespace

answer_body answer_of(node_ranks& ranks, const question& what, int stop, const std::string& queue_host) {
  return std::visit([&](const auto& asked) { return answer_to(ranks, asked, {stop, queue_host}); }, what);
}

answer_body refusal_of(const std::vector<rank_process>& ranks, const question& what, const error& why) {
  return std::visit([&](const auto& asked) { return refuse(ranks, asked, why); }, what);
}

result<std::unique_ptr<rank_worker>> rank_worker::start(std::vector<rank_process> ranks, agent_programs programs) {
  std::unique_ptr<rank_worker> made(new rank_worker);
  made->programs_ = std::move(programs);
  made->ranks_ = std::move(ranks);
  made->done_ = helper::unique_fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  made->stop_ = helper::unique_fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!made->done_ || !made->stop_)
    return fail(error{error_code::system, "making an event for the ranks' thread"}.with_errno(errno));
  // Signals are the caller's: a new thread has the mask of the one that makes it.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  made->thread_ = std::thread([worker = made.get()] { worker->run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return made;
}

rank_worker::~rank_worker() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake(stop_.get());
  wanted_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void rank_worker::put(std::uint64_t number, question what) {
  const std::lock_guard lock(mutex_);
  next_.emplace(number, std::move(what));
  wanted_.notify_all();
}

std::optional<worked> rank_worker::take() {
  std::uint64_t count = 0;
  static_cast<void>(!::read(done_.get(), &count, sizeof count));
  const std::lock_guard lock(mutex_);
  return std::exchange(finished_, std::nullopt);
}

void rank_worker::run() {
  node_ranks_options options;
  options.tracing.tracing_program = programs_.tracer;
  options.debug_files.debuginfod = false;  // a download would hold up whoever asked
  auto ranks = node_ranks::create(ranks_, options);
  for (;;) {
    std::pair<std::uint64_t, question> now;
    {
      std::unique_lock lock(mutex_);
      wanted_.wait(lock, [this] { return ending_ || next_; });
      if (ending_) return;
      now = std::move(*next_);
      next_.reset();
    }
    worked done{now.first, ranks ? answer_of(**ranks, now.second, stop_.get(), programs_.queue_host)
                                 : refusal_of(ranks_, now.second, ranks.error())};
    const std::lock_guard lock(mutex_);
    finished_ = std::move(done);
    wake(done_.get());
  }
}

}  // namespace mpiacq::agents

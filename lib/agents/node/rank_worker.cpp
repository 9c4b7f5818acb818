// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "node/rank_worker.hpp"

#include <cerrno>
#include <chrono>

#include <sys/eventfd.h>
#include <unistd.h>

#include "helper/all_signals_blocked.hpp"

namespace mpiacq::agents {

namespace {

/// Time for the current question when the agent ends.
constexpr std::chrono::seconds end_limit{1};

void wake(int fd) {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(fd, &one, sizeof one));
}

}  // namespace

result<std::unique_ptr<rank_worker>> rank_worker::start(std::vector<rank_process> ranks, answerer_factory answers) {
  std::unique_ptr<rank_worker> made(new rank_worker);
  made->news_ = base::unique_fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  made->stop_ = base::unique_fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!made->news_ || !made->stop_)
    return fail(error{error_code::system, "making an event for the ranks' thread"}.with_errno(errno));
  const base::all_signals_blocked blocked;
  made->thread_ = std::thread([worker = made.get(), mine = std::move(ranks), make = std::move(answers)]() mutable {
    worker->run(make(std::move(mine)));
    std::unique_lock lock(worker->mutex_);
    worker->has_left_ = true;
    worker->left_.notify_all();
    if (!worker->owns_itself_) return;
    lock.unlock();
    delete worker;
  });
  return made;
}

rank_worker::~rank_worker() {
  request_end();
  if (thread_.joinable()) thread_.join();
}

void rank_worker::request_end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake(stop_.get());
  has_work_.notify_all();
}

void rank_worker::end(std::unique_ptr<rank_worker> worker) {
  if (!worker) return;
  worker->request_end();
  std::unique_lock lock(worker->mutex_);
  if (worker->left_.wait_for(lock, end_limit, [&] { return worker->has_left_; })) {
    lock.unlock();
    return;
  }
  worker->thread_.detach();
  worker->owns_itself_ = true;
  static_cast<void>(worker.release());
}

void rank_worker::put(std::uint64_t number, question what) {
  const std::lock_guard lock(mutex_);
  next_.emplace(number, std::move(what));
  has_work_.notify_all();
}

void rank_worker::finish_now(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  finish_early_ = number;
  if (current_ == number) wake(stop_.get());
}

heartbeat rank_worker::progress() {
  const std::lock_guard lock(mutex_);
  return progress_;
}

std::optional<finished_answer> rank_worker::take() {
  std::uint64_t count = 0;
  static_cast<void>(!::read(news_.get(), &count, sizeof count));
  const std::lock_guard lock(mutex_);
  return std::exchange(finished_, std::nullopt);
}

void rank_worker::run(const answerer& answer) {
  for (;;) {
    std::pair<std::uint64_t, question> now;
    {
      std::unique_lock lock(mutex_);
      const auto has_work = [this] { return ending_ || next_; };
      while (!has_work()) {
        lock.unlock();
        const deadline again = answer.serve ? answer.serve() : no_deadline;
        lock.lock();
        if (again == no_deadline) {
          has_work_.wait(lock, has_work);
        } else {
          has_work_.wait_until(lock, again, has_work);
        }
      }
      if (ending_) return;
      now = std::move(*next_);
      next_.reset();
      current_ = now.first;
      progress_ = {};
      // Drops a stop that was meant for an earlier question.
      std::uint64_t count = 0;
      static_cast<void>(!::read(stop_.get(), &count, sizeof count));
      if (finish_early_ == current_) wake(stop_.get());
    }
    const auto report = [this](std::size_t read, std::size_t all) {
      const std::lock_guard lock(mutex_);
      progress_ = {read, all};
      wake(news_.get());
    };
    finished_answer done{now.first, answer.answer(now.second, {stop_.get(), report})};
    const std::lock_guard lock(mutex_);
    current_ = 0;
    finished_ = std::move(done);
    wake(news_.get());
  }
}

}  // namespace mpiacq::agents

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "node/rank_worker.hpp"

#include <cerrno>
#include <chrono>

#include <sys/eventfd.h>
#include <unistd.h>

#include "helper/all_signals_blocked.hpp"

namespace mpiacq::agents {

namespace {

constexpr std::chrono::seconds end_limit{1};

void wake(int fd) {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(fd, &one, sizeof one));
}

}  // namespace

result<std::unique_ptr<rank_worker>> rank_worker::start(std::vector<rank_process> ranks, answering_for answers) {
  std::unique_ptr<rank_worker> made(new rank_worker);
  made->done_ = base::unique_fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  made->stop_ = base::unique_fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!made->done_ || !made->stop_)
    return fail(error{error_code::system, "making an event for the ranks' thread"}.with_errno(errno));
  const base::all_signals_blocked blocked;
  made->thread_ = std::thread([worker = made.get(), mine = std::move(ranks), make = std::move(answers)]() mutable {
    worker->run(make(std::move(mine)));
    std::unique_lock lock(worker->mutex_);
    worker->has_left_ = true;
    worker->left_.notify_all();
    if (!worker->is_alone_) return;
    lock.unlock();
    delete worker;
  });
  return made;
}

rank_worker::~rank_worker() {
  tell_to_end();
  if (thread_.joinable()) thread_.join();
}

void rank_worker::tell_to_end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake(stop_.get());
  wanted_.notify_all();
}

void rank_worker::end(std::unique_ptr<rank_worker> worker) {
  if (!worker) return;
  worker->tell_to_end();
  std::unique_lock lock(worker->mutex_);
  if (worker->left_.wait_for(lock, end_limit, [&] { return worker->has_left_; })) {
    lock.unlock();
    return;
  }
  worker->thread_.detach();
  worker->is_alone_ = true;
  static_cast<void>(worker.release());
}

void rank_worker::put(std::uint64_t number, question what) {
  const std::lock_guard lock(mutex_);
  next_.emplace(number, std::move(what));
  wanted_.notify_all();
}

void rank_worker::hurry(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  hurried_ = number;
  if (working_on_ == number) wake(stop_.get());
}

alive rank_worker::progress() {
  const std::lock_guard lock(mutex_);
  return progress_;
}

std::optional<worked> rank_worker::take() {
  std::uint64_t count = 0;
  static_cast<void>(!::read(done_.get(), &count, sizeof count));
  const std::lock_guard lock(mutex_);
  return std::exchange(finished_, std::nullopt);
}

void rank_worker::run(const answering& answer) {
  for (;;) {
    std::pair<std::uint64_t, question> now;
    {
      std::unique_lock lock(mutex_);
      wanted_.wait(lock, [this] { return ending_ || next_; });
      if (ending_) return;
      now = std::move(*next_);
      next_.reset();
      working_on_ = now.first;
      progress_ = {};
      // What was said of an earlier question is over.
      std::uint64_t count = 0;
      static_cast<void>(!::read(stop_.get(), &count, sizeof count));
      if (hurried_ == working_on_) wake(stop_.get());
    }
    const auto tell = [this](std::size_t read, std::size_t all) {
      const std::lock_guard lock(mutex_);
      progress_ = {read, all};
      wake(done_.get());
    };
    worked done{now.first, answer(now.second, {stop_.get(), tell})};
    const std::lock_guard lock(mutex_);
    working_on_ = 0;
    finished_ = std::move(done);
    wake(done_.get());
  }
}

}  // namespace mpiacq::agents

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "worker_pool.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "helper/all_signals_blocked.hpp"

namespace mpiacq {

namespace {

/// The number of items, each of some microseconds, that justifies one more thread.
constexpr std::size_t items_at_once = 16;
constexpr std::size_t most_threads = 16;

}  // namespace

void on_all_processors(std::size_t count, const std::function<void(std::size_t)>& work) {
  const std::size_t pieces = (count + items_at_once - 1) / items_at_once;
  const std::size_t processors = std::min<std::size_t>(std::thread::hardware_concurrency(), most_threads);
  const bool alone = pieces < 2 || processors < 2;
  worker_pool piece_by_piece(pieces, alone ? 0 : processors, [&](std::size_t piece) {
    const std::size_t end = std::min(count, (piece + 1) * items_at_once);
    for (std::size_t i = piece * items_at_once; i < end; ++i) work(i);
  });
  while (!piece_by_piece.take_done().empty()) continue;
}

worker_pool::worker_pool(std::size_t count, std::size_t threads, std::function<void(std::size_t)> work)
    : count_(count), work_(std::move(work)), news_(::eventfd(count == 0 ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  done_.reserve(count);
  const base::all_signals_blocked blocked;
  while (threads_.size() < std::min(threads, count)) {
    try {
      threads_.emplace_back([this] { run(); });
    } catch (const std::system_error&) {
      break;  // the threads that exist suffice
    }
  }
}

worker_pool::~worker_pool() {
  for (std::thread& thread : threads_) thread.join();
}

void worker_pool::run() {
  std::unique_lock guard(lock_);
  while (next_ < count_) {
    const std::size_t mine = next_++;
    guard.unlock();
    work_(mine);
    guard.lock();
    done_.push_back(mine);
    tell();
  }
}

void worker_pool::tell() {
  more_.notify_one();
  constexpr std::uint64_t one = 1;
  (void)!::write(news_.get(), &one, sizeof one);
}

bool worker_pool::wait(int stop) {
  if (threads_.empty()) run();
  if (!news_.is_open()) return true;  // `take_done` waits instead
  std::array<pollfd, 2> either{pollfd{news_.get(), POLLIN, 0}, pollfd{stop, POLLIN, 0}};
  while (::poll(either.data(), either.size(), -1) < 0 && errno == EINTR) {
  }
  return either[1].revents == 0;
}

void worker_pool::begin_no_more() {
  const std::scoped_lock guard(lock_);
  count_ = next_;
  tell();
}

std::vector<std::size_t> worker_pool::take_done() {
  if (threads_.empty()) run();
  std::unique_lock guard(lock_);
  more_.wait(guard, [this] { return done_.size() > told_ || told_ == count_; });
  std::vector<std::size_t> finished(done_.begin() + static_cast<std::ptrdiff_t>(told_), done_.end());
  told_ = done_.size();
  // The descriptor stays readable when all items have been returned, so that a waiting caller learns it.
  std::uint64_t news = 0;
  if (told_ != count_) (void)!::read(news_.get(), &news, sizeof news);
  return finished;
}

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace mpiacq {

/// Work done one after the other on a thread of its own, which begins with the first. Every signal is blocked there:
/// those of the host program are the host's. The end waits for what is being done, and drops what is not begun.
class background_work {
 public:
  background_work() = default;
  ~background_work();
  background_work(const background_work&) = delete;
  background_work& operator=(const background_work&) = delete;

  /// Where no thread can be had, the work is dropped. Thread: any.
  void add(std::function<void()> work);

 private:
  void run();

  std::mutex lock_;
  std::condition_variable more_;
  std::deque<std::function<void()>> waiting_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace mpiacq

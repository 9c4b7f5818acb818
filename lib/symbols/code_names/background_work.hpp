// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace mpiacq {

/// Runs work items one after the other on a thread of its own, which starts with the first item. Every signal is
/// blocked in that thread, because signals belong to the host program. An item that throws is given up. The destructor
/// waits for the current item and drops the others.
class background_work {
 public:
  background_work() = default;
  ~background_work();
  background_work(const background_work&) = delete;
  background_work& operator=(const background_work&) = delete;

  /// Adds an item. It is dropped if no thread can be created. Thread: any.
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

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>

namespace mpiacq::tool {

/// Everything that this program writes, in order, on a thread of its own.
///
/// A pipe can be full and a terminal stopped for hours. The thread that controls the job must not wait for either: the
/// processes that it holds would stay stopped. So reports, messages and the lines of --each are handed over here, and
/// `main` waits for them when nothing is held any more.
/// Thread: any.
class output_queue {
 public:
  output_queue();
  ~output_queue() = delete;  // there is one, and it lives as long as the program
  output_queue(const output_queue&) = delete;
  output_queue& operator=(const output_queue&) = delete;

  /// Calls it later, after everything that was added before. What it needs it must own, or the program must.
  void add(std::function<void()> task);
  /// Writes these bytes later. A failure is not reported: a reader that has gone wants no more.
  void write(int descriptor, std::string bytes);
  /// The same, and drops them where anything else is still to be written: for what is of no use later.
  void write_if_idle(int descriptor, std::string bytes);

  /// False while more waits to be written than a program should add to.
  [[nodiscard]] bool has_room();
  /// After `has_room` was false: readable once there is room, until `has_room` is asked again.
  [[nodiscard]] int room_descriptor() const { return room_event_; }

  /// From a task: what was to be written has not been, and it has been said why.
  void note_failure();
  /// Waits until everything is written. False where a task has noted a failure.
  [[nodiscard]] bool drain();

 private:
  struct entry {
    std::function<void()> task;
    std::size_t bytes = 0;
  };
  void add(entry next);
  [[nodiscard]] bool start();
  void run();
  void run_one(const entry& next);

  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<entry> waiting_;
  std::size_t bytes_ = 0;  ///< in all that waits
  bool busy_ = false;
  std::atomic<bool> failed_ = false;
  bool has_thread_ = false;
  int room_event_ = -1;
};

/// The one of this program.
[[nodiscard]] output_queue& the_output();

}  // namespace mpiacq::tool

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

/// Writes all output of this program, in order, on a thread of its own.
///
/// A pipe can be full and a terminal stopped for hours. The thread that controls the job must not wait for either: the
/// processes that it holds would stay stopped. Reports, messages and the lines of --each are therefore passed to this
/// queue, and `run_command_line` waits for the queue when no process is held any more. Thread: any.
class output_queue {
 public:
  output_queue();
  ~output_queue() = delete;  // there is one, and it lives as long as the program
  output_queue(const output_queue&) = delete;
  output_queue& operator=(const output_queue&) = delete;

  /// Calls the task later, after all earlier tasks. The data that the task uses must belong to the task or live as long
  /// as the program.
  void add(std::function<void()> task);
  /// Writes these bytes later. A failure is not reported: the reader has gone.
  void write(int descriptor, std::string bytes);
  /// The same, but drops the bytes if others wait: for text that is useless later.
  void write_if_idle(int descriptor, std::string bytes);

  /// False while the queue is so long that no more should be added.
  [[nodiscard]] bool has_room();
  /// After `has_room` was false: readable once there is room, until the next call of `has_room`.
  [[nodiscard]] int room_descriptor() const { return room_event_; }

  /// Called by a task that could not write something and has printed the reason.
  void note_failure();
  /// Waits until everything is written. False if a task has noted a failure.
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
  std::size_t bytes_ = 0;  ///< that wait
  bool busy_ = false;
  std::atomic<bool> failed_ = false;
  bool has_thread_ = false;
  int room_event_ = -1;
};

/// The queue of this program.
[[nodiscard]] output_queue& the_output();

}  // namespace mpiacq::tool

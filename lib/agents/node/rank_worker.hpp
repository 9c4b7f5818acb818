// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A node's ranks on a thread of their own: looking at them takes its time, and whoever asks is to be heard meanwhile.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "descriptors/unique_fd.hpp"
#include "wire/agent_messages.hpp"

namespace mpiacq::agents {

/// How a question is to be answered.
struct answer_terms {
  int stop = -1;  ///< once it can be read, what has been seen until then will do; -1: it never can
  std::function<void(std::size_t done, std::size_t all)> progress = {};  ///< of the ranks; empty: nobody asks
};
/// Gives the answer to a question. Ranks are let go with it.
using answering = std::function<answer_body(const question&, const answer_terms&)>;
/// Makes that for the ranks that an agent has been given.
using answering_for = std::function<answering(std::vector<rank_process>)>;

struct worked {
  std::uint64_t number = 0;
  answer_body what;
};

/// Thread: one at a time. What answers is made, asked and ended on the worker's own thread.
class rank_worker {
 public:
  /// The thread has every signal blocked. system: no descriptor.
  [[nodiscard]] static result<std::unique_ptr<rank_worker>> start(std::vector<rank_process> ranks,
                                                                  answering_for answers);
  /// Waits for the question that is being answered.
  ~rank_worker();
  /// Waits a second for it. A look that takes longer goes on by itself, and lets the ranks go when it has ended, or
  /// with this process.
  static void end(std::unique_ptr<rank_worker> worker);
  rank_worker(const rank_worker&) = delete;
  rank_worker& operator=(const rank_worker&) = delete;

  /// The one before that is done first; one that has not been begun is dropped.
  void put(std::uint64_t number, question what);
  /// That question is to be answered with what there is by now.
  void hurry(std::uint64_t number);
  /// How far the question is that is being answered.
  [[nodiscard]] alive progress();
  /// Can be read when there is something to take, or it is further than before.
  [[nodiscard]] int descriptor() const { return done_.get(); }
  [[nodiscard]] std::optional<worked> take();

 private:
  rank_worker() = default;
  void run(const answering& answer);
  void tell_to_end();

  base::unique_fd done_;
  base::unique_fd stop_;
  std::mutex mutex_;
  std::condition_variable wanted_;
  std::condition_variable left_;
  bool ending_ = false;
  bool is_alone_ = false;  ///< nobody waits for the thread: it owns this
  bool has_left_ = false;
  std::optional<std::pair<std::uint64_t, question>> next_;
  std::uint64_t working_on_ = 0;
  std::uint64_t hurried_ = 0;
  alive progress_;
  std::optional<worked> finished_;
  std::thread thread_;
};

}  // namespace mpiacq::agents

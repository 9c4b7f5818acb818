// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The thread that examines a node's ranks, so that the agent's own thread can answer its parent meanwhile.
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

/// Answers questions about ranks. Its destruction releases the ranks.
struct answerer {
  std::function<answer_body(const question&, const answer_terms&)> answer;
  /// Handles events of the ranks between two questions. Returns when it is to be called again; `no_deadline`: not
  /// before the next question. May be empty.
  std::function<deadline()> serve = {};
};
/// Makes an answerer for the ranks of an assignment.
using answerer_factory = std::function<answerer(std::vector<rank_process>)>;

struct finished_answer {
  std::uint64_t number = 0;  ///< of the question
  answer_body what;
};

/// Thread: one at a time. The answerer is created, called and destroyed on the worker's own thread.
class rank_worker {
 public:
  /// The thread blocks every signal. Errors: system (no descriptor).
  [[nodiscard]] static result<std::unique_ptr<rank_worker>> start(std::vector<rank_process> ranks,
                                                                  answerer_factory answers);
  /// Waits until the current question has been answered.
  ~rank_worker();
  /// Waits for the current question, for one second. A question that takes longer continues in the background; its
  /// ranks are released when it has been answered, or when this process ends.
  static void end(std::unique_ptr<rank_worker> worker);
  rank_worker(const rank_worker&) = delete;
  rank_worker& operator=(const rank_worker&) = delete;

  /// Answers this question after the current one. Drops a question that has not been started.
  void put(std::uint64_t number, question what);
  /// Answers that question with the results so far.
  void finish_now(std::uint64_t number);
  /// The progress of the current question.
  [[nodiscard]] heartbeat progress();
  /// Readable when `take` has something to return, or `progress` has changed.
  [[nodiscard]] int descriptor() const { return news_.get(); }
  [[nodiscard]] std::optional<finished_answer> take();

 private:
  rank_worker() = default;
  void run(const answerer& answer);
  void request_end();

  base::unique_fd news_;
  base::unique_fd stop_;
  std::mutex mutex_;
  std::condition_variable has_work_;
  std::condition_variable left_;
  bool ending_ = false;
  bool owns_itself_ = false;  ///< the thread deletes this object
  bool has_left_ = false;
  std::optional<std::pair<std::uint64_t, question>> next_;
  std::uint64_t current_ = 0;       ///< the number of the question that is being answered; 0: none
  std::uint64_t finish_early_ = 0;  ///< the number of the question to be finished early
  heartbeat progress_;
  std::optional<finished_answer> finished_;
  std::thread thread_;
};

}  // namespace mpiacq::agents

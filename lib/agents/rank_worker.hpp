// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A node's ranks on a thread of their own: looking at them takes its time, and whoever asks is to be heard meanwhile.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "messages.hpp"
#include "mpiacq/agent.hpp"
#include "unique_fd.hpp"

namespace mpiacq::agents {

struct worked {
  std::uint64_t number = 0;
  answer_body what;
};

/// What a node's ranks answer to a question, made of what `node_ranks` gives.
[[nodiscard]] answer_body answer_of(node_ranks& ranks, const question& what, int stop,
                                    const std::string& queue_host = {});
/// What they answer where there is no `node_ranks`: the same error for each.
[[nodiscard]] answer_body refusal_of(const std::vector<rank_process>& ranks, const question& what, const error& why);

/// Thread: one at a time. The ranks are let go when it ends.
class rank_worker {
 public:
  /// The thread has every signal blocked. system: no descriptor.
  [[nodiscard]] static result<std::unique_ptr<rank_worker>> start(std::vector<rank_process> ranks,
                                                                  agent_programs programs);
  ~rank_worker();
  rank_worker(const rank_worker&) = delete;
  rank_worker& operator=(const rank_worker&) = delete;

  /// The one before that is done first; one that has not been begun is dropped.
  void put(std::uint64_t number, question what);
  /// Can be read when there is something to take.
  [[nodiscard]] int descriptor() const { return done_.get(); }
  [[nodiscard]] std::optional<worked> take();

 private:
  rank_worker() = default;
  void run();

  std::vector<rank_process> ranks_;
  agent_programs programs_;
  helper::unique_fd done_;
  helper::unique_fd stop_;
  std::mutex mutex_;
  std::condition_variable wanted_;
  bool ending_ = false;
  std::optional<std::pair<std::uint64_t, question>> next_;
  std::optional<worked> finished_;
  std::thread thread_;
};

}  // namespace mpiacq::agents

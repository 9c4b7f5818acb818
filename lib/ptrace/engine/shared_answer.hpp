// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "engine/requests.hpp"

namespace mpiacq::tracing {

/// The answer to a command about many processes, sent when the last process has its own answer. Each part is answered
/// exactly once, and the object deletes itself with the last part. A part is therefore two words, which std::function
/// stores without an allocation.
class shared_answer {
 public:
  /// `count` is at least 1.
  [[nodiscard]] static shared_answer* create(std::size_t count, reply<std::vector<result<void>>> answer) {
    return new shared_answer(count, std::move(answer));
  }
  void put(std::size_t which, result<void> outcome) {
    outcomes_[which] = std::move(outcome);
    if (--missing_ > 0) return;
    const std::unique_ptr<shared_answer> last(this);
    answer_(std::move(outcomes_));
  }
  [[nodiscard]] reply<void> part(std::size_t which) {
    return [all = this, which](result<void> outcome) { all->put(which, std::move(outcome)); };
  }

 private:
  shared_answer(std::size_t count, reply<std::vector<result<void>>> answer)
      : outcomes_(count), missing_(count), answer_(std::move(answer)) {}
  std::vector<result<void>> outcomes_;
  std::size_t missing_;
  reply<std::vector<result<void>>> answer_;
};

}  // namespace mpiacq::tracing

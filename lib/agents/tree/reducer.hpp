// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The answers to one question, as they come in.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "wire/agent_messages.hpp"

namespace mpiacq::agents {

/// As if both had been taken at one place. Of different kinds: the first stays.
void merge(answer_body& into, answer_body&& other);

/// Merges parts of an answer, whatever the order in which they come; nothing counts twice.
class reducer {
 public:
  reducer() = default;
  explicit reducer(std::uint64_t number) : number_(number) {}
  [[nodiscard]] std::uint64_t number() const { return number_; }

  /// False where it is of another question, or all its agents have been heard. One of which some have been heard and
  /// others not is a problem of each agent that it would have been the first from.
  bool add(answer&& part);
  /// Of all parts so far, also those that were taken.
  [[nodiscard]] const rank_set& covered() const { return covered_; }
  /// Something has come since the last `take`.
  [[nodiscard]] bool has_news() const { return body_.has_value() || !problems_.empty(); }
  /// An agent that was lost after it had answered is lost all the same: its problem is with its answer, also where it
  /// has been told alone before.
  [[nodiscard]] answer take();
  /// The problems alone, where there are any.
  [[nodiscard]] std::optional<answer> take_problems();

 private:
  std::uint64_t number_ = 0;
  rank_set covered_;
  rank_set fresh_;
  std::vector<agent_problem> problems_;
  std::vector<agent_problem> told_;  ///< alone, since the last `take`
  std::optional<answer_body> body_;
};

}  // namespace mpiacq::agents

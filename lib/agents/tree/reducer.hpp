// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Merges the parts of the answer to one question.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "wire/agent_messages.hpp"

namespace mpiacq::agents {

/// Merges two answers of the same kind. If the kinds differ, `into` stays as it is.
void merge(answer_body& into, answer_body&& other);

/// Merges parts in any order and counts each agent once. An agent passes on what has arrived (`take`); the front end
/// learns which agents have answered (`take_news`) and takes the whole answer at the end (`take_body`).
class reducer {
 public:
  /// What has happened since the last call.
  struct news {
    rank_set answered;                    ///< agents whose answers have arrived
    std::vector<agent_problem> problems;  ///< an agent that is also in `answered` was lost after its answer
  };

  reducer() = default;
  explicit reducer(std::uint64_t number) : number_(number) {}
  [[nodiscard]] std::uint64_t number() const { return number_; }

  /// False if the part belongs to another question, or if all its agents have been counted. A part of which some agents
  /// have been counted cannot be taken apart: it is dropped and becomes a problem of the first agent that it would have
  /// added.
  bool add(answer&& part);
  /// The agents of all parts, including parts that were taken.
  [[nodiscard]] const rank_set& covered() const { return covered_; }

  /// Whether `take` would return something.
  [[nodiscard]] bool has_news() const { return body_.has_value() || !problems_.empty(); }
  /// The parts and problems since the last call. The problem of an agent that was lost after it had answered is here
  /// together with its answer, even if `take_problems` has returned it before.
  [[nodiscard]] answer take();
  /// Only the problems, if there are any.
  [[nodiscard]] std::optional<answer> take_problems();

  [[nodiscard]] news take_news();
  /// The merged answer; empty if no part has arrived.
  [[nodiscard]] std::optional<answer_body> take_body();

 private:
  std::uint64_t number_ = 0;
  rank_set covered_;
  rank_set fresh_;  ///< agents of `body_`
  std::vector<agent_problem> problems_;
  std::vector<agent_problem> reported_;  ///< returned by `take_problems` since the last `take`
  std::optional<answer_body> body_;
};

}  // namespace mpiacq::agents

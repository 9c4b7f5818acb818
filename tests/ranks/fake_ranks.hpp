// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Ranks that are not there: a backend that answers what a test tells it.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "group_parts.hpp"
#include "rank_backend.hpp"

namespace mpiacq::test {

/// What a test sees of a backend that it has given away.
struct fake_script {
  std::vector<rank_question> asked;
  std::vector<bool> collected;  ///< one for each answer
  /// Gives each answer. Empty: the answers name no rank.
  std::function<rank_answer(const rank_question&, const answer_terms&)> answer;
  error why{error_code::system, "its node is lost"};
  int kept_held = 0;
};

class fake_ranks final : public rank_backend {
 public:
  fake_ranks(std::vector<std::uint32_t> ranks, bool local, std::shared_ptr<fake_script> script)
      : script_(std::move(script)) {
    node_ = {local ? "here" : "there", {}, local, std::nullopt};
    for (const std::uint32_t rank : ranks) {
      ranks_.push_back({entry_index{rank}, process_id{1000 + rank}, "/bin/app"});
      node_.ranks.add(rank);
    }
  }
  [[nodiscard]] std::span<const rank_process> ranks() const override { return ranks_; }
  [[nodiscard]] std::vector<job_node> nodes() const override { return {node_}; }
  void ask(const rank_question& what) override { script_->asked.push_back(what); }
  [[nodiscard]] rank_answer collect(const answer_terms& terms) override {
    script_->collected.push_back(true);
    const rank_question& what = script_->asked.back();
    if (script_->answer) return script_->answer(what, terms);
    return refusal_of(std::span<const refused_process>(), what);
  }
  [[nodiscard]] error why_missing(std::size_t) const override { return script_->why; }
  void keep_held() override { ++script_->kept_held; }

 private:
  std::vector<rank_process> ranks_;
  job_node node_;
  std::shared_ptr<fake_script> script_;
};

/// A group of these backends.
inline rank_group group_of(std::vector<std::unique_ptr<rank_backend>> backends, const rank_options& options = {}) {
  auto parts = std::make_unique<group_parts>(options);
  for (auto& one : backends) parts->add(std::move(one));
  return group_parts::make(std::move(parts));
}

/// Ranks 0, 2 here and ranks 1, 3 there.
struct two_nodes {
  std::shared_ptr<fake_script> here = std::make_shared<fake_script>();
  std::shared_ptr<fake_script> there = std::make_shared<fake_script>();
  [[nodiscard]] rank_group group() const {
    std::vector<std::unique_ptr<rank_backend>> both;
    both.push_back(std::make_unique<fake_ranks>(std::vector<std::uint32_t>{0, 2}, true, here));
    both.push_back(std::make_unique<fake_ranks>(std::vector<std::uint32_t>{1, 3}, false, there));
    return group_of(std::move(both));
  }
};

}  // namespace mpiacq::test

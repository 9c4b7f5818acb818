// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "remote/remote_ranks.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace mpiacq::agents {

namespace {

/// The kind of answer that a question has.
template <class Question>
struct answer_for;
template <>
struct answer_for<ask_hold> {
  using type = hold_part;
};
template <>
struct answer_for<ask_release> {
  using type = release_part;
};
template <>
struct answer_for<ask_stacks> {
  using type = group_stacks;
};
template <>
struct answer_for<ask_queues> {
  using type = group_queues;
};
template <>
struct answer_for<ask_gates> {
  using type = opened_gates;
};
template <>
struct answer_for<ask_follow> {
  using type = hold_part;
};
template <>
struct answer_for<ask_ends> {
  using type = group_ends;
};
template <>
struct answer_for<ask_cores> {
  using type = rank_cores;
};

template <class Question>
constexpr bool is_for_agents = !std::is_same_v<Question, ask_registers>;

constexpr std::string_view elsewhere = "it is on another node, where ";

}  // namespace

remote_ranks::remote_ranks(const rank_options& options, std::unique_ptr<node_agents> agents,
                           std::vector<remote_node> nodes, std::size_t all_hosts)
    : is_default_limit_(options.tracing.hold_limit == tracer_options{}.hold_limit), agents_(std::move(agents)) {
  std::vector<agent_node> wanted;
  std::vector<std::pair<rank_process, std::size_t>> all;
  for (remote_node& one : nodes) {
    for (const rank_process& rank : one.ranks) all.emplace_back(rank, nodes_.size());
    if (!one.node.why) {
      wanted.push_back({one.node.host, std::move(one.ranks)});
      asked_nodes_.push_back(nodes_.size());
    }
    nodes_.push_back(std::move(one.node));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first.entry < b.first.entry; });
  for (auto& [rank, node] : all) {
    ranks_.push_back(std::move(rank));
    node_of_rank_.push_back(node);
  }
  const std::size_t idle = all_hosts - std::min(all_hosts, wanted.size());
  agents_->reach(std::move(wanted), idle);
  agents_->expect_no_more();
  note_reasons();
}

remote_ranks::~remote_ranks() {
  if (::getpid() != made_in_) static_cast<void>(agents_.release());
}

/// An agent does not know by which name the job calls its node.
void remote_ranks::name_hosts(rank_cores& cores) const {
  for (rank_core& one : cores.written) {
    const auto rank = std::lower_bound(ranks_.begin(), ranks_.end(), one.entry,
                                       [](const rank_process& a, entry_index entry) { return a.entry < entry; });
    if (rank == ranks_.end() || rank->entry != one.entry) continue;
    one.host = nodes_[node_of_rank_[static_cast<std::size_t>(rank - ranks_.begin())]].host;
  }
}

void remote_ranks::note_reasons() {
  for (std::size_t i = 0; i < asked_nodes_.size(); ++i) nodes_[asked_nodes_[i]].why = agents_->why(i);
}

error remote_ranks::why_missing(std::size_t place) const {
  return nodes_[node_of_rank_[place]].why.value_or(error{error_code::system, "its node says nothing of it"});
}

std::optional<error> remote_ranks::why_not_sent(const rank_question& what) const {
  const auto unsupported = [](std::string_view why) {
    return error{error_code::unsupported, std::string(elsewhere).append(why)};
  };
  if (std::holds_alternative<ask_registers>(what)) return unsupported("registers are not read");
  const auto* stacks = std::get_if<ask_stacks>(&what);
  const auto* queues = std::get_if<ask_queues>(&what);
  if (queues != nullptr && queues->how.host.isolation != queue_isolation::separate)
    return unsupported("a queue library runs in a process of its own only");
  if ((stacks != nullptr && stacks->debug_files.debuginfod) ||
      (queues != nullptr && queues->how.types.debug_files.debuginfod))
    return unsupported("debug files are not downloaded: a download would delay all answers");
  if (std::holds_alternative<ask_hold>(what) && !is_default_limit_)
    return unsupported("ranks are held for the default time only (tracer_options::hold_limit)");
  return std::nullopt;
}

void remote_ranks::ask(const rank_question& what) {
  asked_ = what;
  not_sent_ = why_not_sent(what);
  if (not_sent_) return;
  std::visit(
      [this](const auto& one) {
        if constexpr (is_for_agents<std::remove_cvref_t<decltype(one)>>) agents_->ask(one);
      },
      what);
}

rank_answer remote_ranks::collect(const answer_terms& terms) {
  if (not_sent_) return refusal_of(ranks_, asked_, *not_sent_);
  std::function<void(const heartbeat&)> tell;
  if (terms.progress) {
    tell = [&terms](const heartbeat& seen) {
      terms.progress(static_cast<std::size_t>(seen.done), static_cast<std::size_t>(seen.all));
    };
  }
  rank_answer answer = std::visit(
      [&](const auto& one) -> rank_answer {
        using asked = std::remove_cvref_t<decltype(one)>;
        if constexpr (is_for_agents<asked>) {
          return agents_->collect<typename answer_for<asked>::type>(std::move(tell));
        } else {
          return registers_part{};
        }
      },
      asked_);
  note_reasons();
  if (auto* cores = std::get_if<rank_cores>(&answer)) name_hosts(*cores);
  if (auto* queues = std::get_if<group_queues>(&answer); queues != nullptr && agents_->is_stopped())
    queues->stopped = true;
  return answer;
}

}  // namespace mpiacq::agents

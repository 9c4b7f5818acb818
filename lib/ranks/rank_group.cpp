// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/ranks/rank_group.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "busy_ranks.hpp"
#include "errors/no_exceptions.hpp"
#include "errors/try.hpp"
#include "group_parts.hpp"
#include "local_ranks.hpp"
#include "wait_finder.hpp"

namespace mpiacq {

namespace {

constexpr std::string_view making_a_group = "making a group of ranks";

result<rank_group> group_of(result<std::unique_ptr<node_ranks>> made, const rank_options& options) {
  if (!made) return fail(std::move(made).error());
  job_node here{"", {}, true, std::nullopt};
  for (const rank_process& rank : (*made)->ranks()) here.ranks.add(rank.entry);
  auto parts = std::make_unique<group_parts>(options);
  parts->add(std::make_unique<local_ranks>(std::move(*made), std::vector{std::move(here)}));
  return group_parts::make(std::move(parts));
}

}  // namespace

void group_parts::add(std::unique_ptr<rank_backend> backend) {
  const auto more = backend->ranks();
  const auto middle = static_cast<std::ptrdiff_t>(ranks.size());
  ranks.insert(ranks.end(), more.begin(), more.end());
  std::inplace_merge(ranks.begin(), ranks.begin() + middle, ranks.end(),
                     [](const rank_process& a, const rank_process& b) { return a.entry < b.entry; });
  backends.push_back(std::move(backend));
}

namespace {

/// Refuses the ranks that the question names and the answer lacks.
void add_missing(rank_answer& answer, const rank_question& what, const rank_backend& backend) {
  const rank_set told = told_ranks(answer);
  const rank_selection asked = asked_ranks(what);
  std::vector<refused_process> missing;
  const auto ranks = backend.ranks();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (asked.contains(ranks[i].entry) && !told.contains(ranks[i].entry))
      missing.push_back({ranks[i], backend.why_missing(i)});
  }
  if (!missing.empty()) merge(answer, refusal_of(missing, what));
}

}  // namespace

rank_answer group_parts::ask(const rank_question& what, const progress& tell) {
  const rank_selection asked = asked_ranks(what);
  const auto wanted = static_cast<std::size_t>(
      std::count_if(ranks.begin(), ranks.end(), [&](const rank_process& rank) { return asked.contains(rank.entry); }));
  std::size_t before = 0, latest = 0;
  answer_terms terms{limit.get(), {}};
  if (tell) {
    terms.progress = [&](std::size_t done, std::size_t) {
      latest = done;
      tell(std::min(wanted, before + done), wanted);
    };
  }
  for (const auto& backend : backends) backend->ask(what);
  std::optional<rank_answer> all;
  for (const auto& backend : backends) {
    rank_answer answer = backend->collect(terms);
    add_missing(answer, what, *backend);
    before += std::exchange(latest, 0);
    if (all) {
      merge(*all, std::move(answer));
    } else {
      all = std::move(answer);
    }
  }
  return all ? std::move(*all) : refusal_of(std::span<const refused_process>(), what);
}

rank_queue_options group_parts::completed(rank_queue_options how) const {
  how.types.debug_files = options.debug_files;
  return how;
}

rank_group::rank_group(std::unique_ptr<group_parts> parts) : parts_(std::move(parts)) {}
rank_group::~rank_group() = default;
rank_group::rank_group(rank_group&&) noexcept = default;
rank_group& rank_group::operator=(rank_group&&) noexcept = default;

result<rank_group> rank_group::of_processes(std::span<const process_id> processes, const rank_options& options) {
  return without_exceptions(making_a_group, [&] {
    return group_of(node_ranks::of_processes(processes, {options.tracing, options.debug_files}), options);
  });
}

result<rank_group> rank_group::of_ranks(std::vector<rank_process> ranks, const rank_options& options) {
  return without_exceptions(making_a_group, [&] {
    return group_of(node_ranks::create(std::move(ranks), {options.tracing, options.debug_files}), options);
  });
}

std::span<const rank_process> rank_group::ranks() const {
  return parts_->ranks;
}

std::vector<job_node> rank_group::nodes() const {
  std::vector<job_node> all;
  for (const auto& backend : parts_->backends) {
    auto some = backend->nodes();
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const job_node& a, const job_node& b) { return a.ranks.lowest() < b.ranks.lowest(); });
  return all;
}

namespace {

/// One outcome for each of these ranks, in their order.
std::vector<rank_hold> one_for_each(const std::vector<rank_process>& ranks, hold_part answer) {
  std::map<entry_index, rank_hold> others;
  for (rank_hold& one : answer.others) others.emplace(one.entry, std::move(one));
  std::vector<rank_hold> all;
  for (const rank_process& rank : ranks) {
    const auto other = others.find(rank.entry);
    all.push_back(other == others.end() ? rank_hold{rank.entry, rank.pid, hold_state::held, std::nullopt}
                                        : std::move(other->second));
  }
  return all;
}

}  // namespace

std::vector<rank_hold> rank_group::hold() {
  return one_for_each(parts_->ranks, parts_->ask_for<hold_part>(ask_hold{}));
}

std::vector<rank_hold> rank_group::follow_ends(const follow_options& options) {
  return one_for_each(parts_->ranks, parts_->ask_for<hold_part>(ask_follow{true, options}));
}

group_ends rank_group::ends() {
  auto all = parts_->ask_for<group_ends>(ask_ends{});
  // One backend can have many nodes: on a login node, no rank is local.
  if (all.failed.empty() || nodes().size() == 1) return all;
  (void)parts_->ask(ask_hold{});
  auto more = parts_->ask_for<group_ends>(ask_ends{});
  all.followed = {};
  all.refused.clear();
  merge(all, std::move(more));
  return all;
}

int rank_group::ends_descriptor() const {
  for (const auto& backend : parts_->backends) {
    if (const auto here = backend->local()) return here->ends_descriptor();
  }
  return -1;
}

void rank_group::unfollow_ends() {
  (void)parts_->ask(ask_follow{false});
}

rank_cores rank_group::write_cores(const rank_core_options& options) {
  return parts_->ask_for<rank_cores>(ask_cores{options});
}

void rank_group::keep_held() {
  for (const auto& backend : parts_->backends) backend->keep_held();
}

std::vector<result<void>> rank_group::release(leave how) {
  const auto answer = parts_->ask_for<release_part>(ask_release{how});
  std::vector<result<void>> all;
  for (const rank_process& rank : parts_->ranks) {
    const auto why = std::find_if(answer.refused.begin(), answer.refused.end(),
                                  [&](const refused_ranks& one) { return one.ranks.contains(rank.entry); });
    all.push_back(why == answer.refused.end() ? result<void>() : result<void>(fail(why->why)));
  }
  return all;
}

std::vector<result<std::vector<thread_registers>>> rank_group::registers(which_threads which) const {
  auto answer = parts_->ask_for<registers_part>(ask_registers{which});
  std::sort(answer.begin(), answer.end(),
            [](const rank_registers& a, const rank_registers& b) { return a.entry < b.entry; });
  std::vector<result<std::vector<thread_registers>>> all;
  for (rank_registers& one : answer) all.push_back(std::move(one.threads));
  return all;
}

namespace {

rank_set busy_among(const group_stacks& seen) {
  rank_set busy;
  for (const refused_ranks& one : seen.refused) {
    if (one.why.code == error_code::busy) busy.add(one.ranks);
  }
  // What a signal has stopped may stay so for long.
  return busy.without(seen.stopped);
}

/// Adds what the next try has taken. It has an outcome for each rank that was busy.
void put_into(group_stacks& all, group_stacks&& next) {
  std::erase_if(all.refused, [&all](refused_ranks& one) {
    if (one.why.code == error_code::busy) one.ranks = one.ranks.both(all.stopped);
    return one.ranks.empty();
  });
  next.held_for += all.held_for;
  rank_answer whole = std::move(all);
  merge(whole, std::move(next));
  all = std::get<group_stacks>(std::move(whole));
}

}  // namespace

group_stacks rank_group::stacks(const stack_options& options) {
  return without_exceptions(
      "taking stacks",
      [&] {
        ask_stacks what{options, parts_->options.debug_files};
        auto all = parts_->ask_for<group_stacks>(what);
        busy_tries tries;
        for (auto busy = busy_among(all); tries.again(busy, parts_->limit.get()); busy = busy_among(all)) {
          what.how.ranks = selection_of(busy);
          put_into(all, parts_->ask_for<group_stacks>(what));
        }
        return all;
      },
      [] {});
}

group_stacks rank_group::stacks() {
  return stacks(parts_->options.stacks);
}

group_queues rank_group::queues(const rank_queue_options& options) {
  return without_exceptions(
      "reading message queues",
      [&] { return parts_->ask_for<group_queues>(ask_queues{parts_->completed(options)}, options.progress); }, [] {});
}

group_queues rank_group::queues() {
  return queues(parts_->options.queues);
}

result<confirmed_waits> rank_group::waits(const waits_options& options) {
  return without_exceptions("finding which rank waits for which",
                            [&]() -> result<confirmed_waits> { return wait_finder(*this, *parts_, options).find(); });
}

opened_gates rank_group::open_gates(const gate_options& options) {
  return parts_->ask_for<opened_gates>(ask_gates{options, parts_->options.debug_files});
}

std::unique_ptr<spawn_watch> rank_group::watch_spawns(const group_queues& seen, const rank_queue_options& options) {
  for (const auto& backend : parts_->backends) {
    if (auto here = backend->local()) return spawn_watch::create(std::move(here), seen, parts_->completed(options));
  }
  return nullptr;
}

}  // namespace mpiacq

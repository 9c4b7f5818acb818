// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "stack_taker.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "errors/try.hpp"
#include "rank_positions.hpp"
#include "worker_pool.hpp"

namespace mpiacq {

namespace {

/// The code to which a signal handler returns has a name in some C libraries and none in most. A reader needs its
/// purpose, not its name.
std::shared_ptr<const code_place> signal_place(const std::string& module_path) {
  return std::make_shared<const code_place>(code_place{"<signal handler called>", {}, 0, module_path, {}});
}

std::vector<target_address> program_counters_of(std::span<const thread_registers> threads) {
  std::vector<target_address> all;
  for (const thread_registers& one : threads) all.push_back(one.pc);
  return all;
}

/// Calls `work` for each rank on several threads, because the ranks share no data. If two of them have the same
/// process, the calling thread does all the work.
template <class Pending, class Work>
void for_each_apart(std::vector<Pending>& all, Work work) {
  std::set<const rank_walker*> walkers;
  for (const Pending& one : all) walkers.insert(one.walker);
  if (walkers.size() == all.size()) {
    on_all_processors(all.size(), [&](std::size_t i) { work(all[i]); });
  } else {
    for (Pending& one : all) work(one);
  }
}

}  // namespace

stack_taker::stack_taker(rank_stopper& grip, debug_file_search search) : grip_(grip), catalogue_(std::move(search)) {}

rank_walker& stack_taker::walker_of(process_id pid) {
  auto& walker = walkers_[pid];
  if (!walker) walker = std::make_unique<rank_walker>(pid, tables_, modules_);
  return *walker;
}

template <class Look>
clock::duration stack_taker::while_held(std::vector<pending>& all, bool again, which_threads which, Look look) {
  std::vector<pending*> ours;
  std::vector<attach_target> targets;
  for (pending& one : all) {
    if (!one.taken || one.again != again) continue;
    ours.push_back(&one);
    if (!one.rank->held) targets.push_back(one.rank->process);
  }
  if (ours.empty()) return {};
  const auto begin = clock::now();
  const auto attached = grip_.take(targets);
  std::vector<process_id> stopped, to_let_go;
  auto outcome = attached.begin();
  for (pending* one : ours) {
    one->taken_here = false;
    if (!one->rank->held) one->taken = *outcome++;
    if (!one->taken) continue;
    stopped.push_back(one->rank->process.process);
    one->taken_here = !one->rank->held;
    if (one->taken_here) to_let_go.push_back(stopped.back());
  }
  auto registers = grip_.registers(stopped, which, register_sets::general);
  auto threads = registers.begin();
  for (pending* one : ours) {
    if (!one->taken) continue;
    grip_.keep_held();
    one->taken = *threads ? look(*one, std::move(**threads)) : result<void>(fail(threads->error()));
    ++threads;
  }
  disbelieve_if_lost(ours, grip_.let_go(to_let_go));
  return clock::now() - begin;
}

/// Discards the copies of ranks that the tracer server had released earlier: a copy of a running process is no stack.
void stack_taker::disbelieve_if_lost(std::span<pending* const> looked_at, std::vector<result<void>> let_go) {
  auto outcome = let_go.begin();
  for (pending* one : looked_at) {
    if (!one->taken_here) continue;
    if (!*outcome && outcome->error().code == error_code::limit && one->taken) one->taken = std::move(*outcome);
    ++outcome;
  }
}

void stack_taker::walk_all(std::vector<pending>& all, const walk_options& options) {
  for_each_apart(all, [&](pending& one) {
    if (!one.taken) return;
    auto walked = one.walker->walk(options);
    if (!walked) {
      one.taken = fail(std::move(walked).error());
    } else if (*walked) {
      one.stacks = std::move(**walked);
    } else {
      one.again = true;
    }
  });
}

/// The debug information of a C library can take longer to read than the stacks of hundreds of ranks. It is read while
/// these are taken: most ranks of a job are in the same libraries.
void stack_taker::expect_names(const rank_walker& walker, std::span<const target_address> program_counters) {
  if (program_counters.empty()) return;
  expects_names_ = true;
  std::vector<code_catalogue::query> queries;
  for (const target_address pc : program_counters) queries.push_back({&walker.map(), pc, false});
  catalogue_.expect(queries);
}

node_stacks stack_taker::take(std::span<const wanted_rank> ranks, const stack_options& options) {
  std::vector<pending> all;
  for (const wanted_rank& rank : ranks) all.push_back({&rank, &walker_of(rank.process.process), {}, {}, false});
  for_each_apart(all, [](pending& one) { one.walker->prepare(); });
  const walk_options walk{options.max_frames};
  node_stacks taken;
  taken.held_for =
      while_held(all, false, options.threads, [&](pending& one, std::vector<thread_registers> threads) -> result<void> {
        std::vector<target_address> now;
        if (!expects_names_ && all.size() > 1) now = program_counters_of(threads);
        TRY(one.walker->copy(std::move(threads), copy_room_));
        expect_names(*one.walker, now);
        return {};
      });
  walk_all(all, walk);
  taken.held_for +=
      while_held(all, true, options.threads, [&](pending& one, std::vector<thread_registers> threads) -> result<void> {
        auto walked = TRY(one.walker->walk_held(threads, walk));
        one.stacks = std::move(walked);
        return {};
      });
  taken.ranks = named(std::move(all), options.positions);
  const auto problems = catalogue_.problems();
  for (; problems_told_ < problems.size(); ++problems_told_) taken.problems.push_back(problems[problems_told_]);
  return taken;
}

result<call_arguments> stack_taker::arguments(process_id pid, thread_id thread, std::size_t frame, std::size_t count) {
  rank_walker& walker = walker_of(pid);
  const auto call = [&](target_address return_address) { return catalogue_.call_before(walker.map(), return_address); };
  const auto places = [&](target_address pc) { return catalogue_.parameters_around(walker.map(), pc); };
  return walker.arguments(thread, frame, count, call, places);
}

std::vector<rank_stacks> stack_taker::named(std::vector<pending> all, bool with_positions) {
  std::vector<code_catalogue::query> queries;
  for (const pending& one : all) {
    for (const raw_stack& stack : one.stacks) {
      for (const raw_frame& frame : stack.frames) {
        queries.push_back({&one.walker->map(), frame.pc, frame.is_return_address});
      }
    }
  }
  const auto places = catalogue_.describe(queries);
  auto answer = places.begin();
  std::vector<rank_stacks> ranks;
  for (pending& one : all) {
    const process_id pid = one.rank->process.process;
    rank_stacks& rank = ranks.emplace_back(rank_stacks{one.rank->entry, pid, std::move(one.taken), {}});
    for (raw_stack& stack : one.stacks) {
      const bool is_first = rank.threads.empty();
      std::vector<std::size_t> raw_numbers;
      thread_stack& named = rank.threads.emplace_back();
      named = {pid, stack.thread, {}, stack.end, std::move(stack.why)};
      for (std::size_t number = 0; number < stack.frames.size(); ++number) {
        const raw_frame& frame = stack.frames[number];
        const code_places& here = **answer++;
        if (frame.signal_frame) {
          named.frames.push_back({frame.pc, signal_place(here.back()->module_path), false});
        } else {
          for (const auto& place : here) named.frames.push_back({frame.pc, place, true});
          named.frames.back().inlined = false;  // the function into which the others were inlined
        }
        raw_numbers.resize(named.frames.size(), number);
      }
      if (with_positions && is_first)
        rank.position = position_of(rank.entry, pid, {stack, named.frames, raw_numbers}, *one.walker);
    }
  }
  return ranks;
}

}  // namespace mpiacq

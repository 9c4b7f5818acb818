// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "watch/look_at_ranks.hpp"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

#include "mpiacq/job/job.hpp"
#include "mpiacq/process/process_user.hpp"
#include "watch/waiting_process.hpp"

namespace mpiacq::check {

namespace {

/// /proc gives no notice of changes, so it must be polled.
constexpr std::chrono::milliseconds between_looks{5};
constexpr std::uint64_t smallest_pid = 4;  // bytes of a pid_t

bool is_settled(const rank_watch& rank) {
  return rank.seen.is_starter || !rank.seen.alive ||
         (rank.seen.at_spawn != place::unknown && rank.seen.at_spawn != place::past_init);
}

/// False for a process that does not exist, since it has no user. A clause judges that the table names it.
bool is_of_another_user(process_id pid, user_id starters) {
  const auto why = why_no_rank(pid, starters);
  return why && why->code == error_code::permission;
}

}  // namespace

void rank_set::look_at_spawn(const process_table& table, process_id starter) {
  take_in(table, starter);
  settle();
}

void rank_set::look_at_running(const process_table& table, process_id starter) {
  take_in(table, starter);
}

void rank_set::take_in(const process_table& table, process_id starter) {
  const std::vector<bool> local = hosts_on_this_node(table);
  const auto starters_facts = process_facts::open(starter);
  const std::string starters_environment = starters_facts ? starters_facts->environment().value_or("") : "";
  user_ = table.user();
  std::vector<std::unique_ptr<rank_watch>> before = std::exchange(ranks_, {});
  on_node_ = 0;
  others_.clear();
  // A field that is too small for a pid may name an unrelated process.
  const structure_member* pid = table.layout().find(name(descriptor_field::pid));
  if (pid == nullptr || pid->size < smallest_pid) return;
  std::map<process_id, bool> is_other_users;  // a table may name one process many times
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::uint32_t host = table.host_numbers()[i];
    if (host == process_table::no_string || !local[host] || table.pid(entry_index{i}).value() <= 0) continue;
    const bool is_starter = table.pid(entry_index{i}) == starter;
    const auto [user, is_new] = is_other_users.try_emplace(table.pid(entry_index{i}), false);
    if (is_new) user->second = table.user() && is_of_another_user(table.pid(entry_index{i}), *table.user());
    if (user->second) continue;
    starter_in_table_ = starter_in_table_ || is_starter;
    starter_is_entry_0_ = starter_is_entry_0_ || (is_starter && i == 0);
    ++on_node_;
    if (ranks_.size() >= options_.max_ranks) {
      if (!is_starter && is_new) others_.push_back(table.pid(entry_index{i}));
      continue;
    }
    const auto known = std::find_if(before.begin(), before.end(), [&](const auto& r) {
      return r != nullptr && r->seen.rank == i && r->seen.pid == table.pid(entry_index{i});
    });
    if (known != before.end()) {
      ranks_.push_back(std::move(*known));
      continue;
    }
    ranks_.push_back(
        std::make_unique<rank_watch>(i, table.pid(entry_index{i}), is_starter, options_.debug_files, table.user()));
    ranks_.back()->describe(table.executable_name(entry_index{i}), starter, starters_environment);
  }
}

void rank_set::settle() {
  const deadline until = clock::now() + options_.settle;
  for (;;) {
    bool all_settled = true;
    for (const auto& rank : ranks_) {
      if (is_settled(*rank) || rank->done || rank->settled_before) continue;
      rank->seen.at_spawn = rank->look();
      rank->seen.stopped = rank->stopped();
      // A stopped process does not go on by itself.
      all_settled = all_settled && (is_settled(*rank) || rank->seen.stopped);
    }
    if (all_settled || clock::now() >= until) break;
    std::this_thread::sleep_for(between_looks);
  }
  for (const auto& rank : ranks_) rank->settled_before = true;
}

void rank_set::starter_goes_on(bool partial_attach_ok) {
  partial_attach_ok_ = partial_attach_ok;
  gates_are_ours_ = true;
  gates_at_ = clock::now() + (partial_attach_ok ? options_.patience_with_flag : options_.patience_without_flag);
  give_up_at_ = no_deadline;
}

/// Where a process is now says whether it has gone on. One that was past MPI_Init at the spawn event, and comes to it
/// only now, had not been there yet.
void rank_set::look_at(rank_watch& rank) {
  using progress = rank_seen::progress;
  const auto gone_on = rank.seen.gate_opened ? progress::with_gate : progress::with_starter;
  rank.seen_waiting = false;
  if (!rank.alive()) {
    rank.seen.went_on = gone_on;
    rank.done = true;
    return;
  }
  if (rank.stopped()) {
    rank.seen_waiting = true;
    return;
  }
  rank.describe_late();
  const place now = rank.look();
  if (rank.seen.at_spawn == place::past_init) {
    if (now == place::in_mpi_init) rank.seen.at_spawn = place::before_init;
    return;
  }
  // A program may have a gate and no symbol MPI_Init. Then its waiting cannot be seen, so its gate is opened.
  if (now == place::no_mpi && gates_are_ours_ && !partial_attach_ok_) (void)rank.open_gate();
  if (now == place::past_init || now == place::no_mpi) {
    rank.seen.went_on = gone_on;
    rank.done = true;
  }
  rank.seen_waiting = now == place::in_mpi_init || now == place::before_main;
}

/// MPIR 1.1, chapter 8, step 18: without MPIR_partial_attach_ok the tool sets the gate of every process. With it, one
/// that does wait for its gate contradicts the flag, and must have been seen waiting.
void rank_set::open_gate(rank_watch& rank) {
  if (rank.seen.gate_opened || (partial_attach_ok_ && !rank.seen_waiting)) return;
  rank.seen.gate_opened = rank.open_gate();
}

void rank_set::open_gates_of_others() {
  if (partial_attach_ok_) return;
  for (const process_id pid : std::exchange(others_, {})) {
    rank_watch other(0, pid, false, options_.debug_files, user_);
    other.describe_late();
    (void)other.open_gate();
  }
}

bool rank_set::look_again() {
  const bool time_for_gates = clock::now() >= gates_at_;
  const bool time_to_give_up = clock::now() >= give_up_at_;
  bool more = false;
  bool opened = false;
  bool closed = false;
  for (const auto& rank : ranks_) {
    if (rank->done || rank->seen.is_starter) continue;
    look_at(*rank);
    if (rank->done) continue;
    if (time_for_gates) open_gate(*rank);
    opened = opened || rank->seen.gate_opened;
    closed = closed || !rank->seen.gate_opened;
    if (time_to_give_up && rank->seen.gate_opened) rank->done = true;
    more = more || !rank->done;
  }
  if (time_for_gates) {
    // On a busy machine a process may reach its gate later than the others. It must not be left waiting there.
    if (!closed) gates_at_ = no_deadline;
    open_gates_of_others();
    if (opened && give_up_at_ == no_deadline) give_up_at_ = clock::now() + options_.patience_with_gate;
  }
  // The gates of those that are not watched have their time, too.
  return more || (!partial_attach_ok_ && !others_.empty());
}

void rank_set::finish() {
  for (const auto& rank : ranks_) {
    if (!rank->done && !rank->seen.is_starter) look_at(*rank);
  }
}

void rank_set::open_all_gates() {
  if (!gates_are_ours_ || partial_attach_ok_) return;
  for (const auto& rank : ranks_) {
    if (!rank->done && !rank->seen.is_starter && !rank->seen.gate_opened) (void)rank->open_gate();
  }
  open_gates_of_others();
}

void rank_set::clear() {
  ranks_.clear();
  others_.clear();
  on_node_ = 0;
  starter_in_table_ = starter_is_entry_0_ = false;
}

void rank_set::report(observations& o) const {
  o.ranks.clear();
  for (const auto& rank : ranks_) o.ranks.push_back(rank->seen);
  o.ranks_on_node = on_node_;
  o.starter_in_table = starter_in_table_;
  o.starter_is_entry_0 = starter_is_entry_0_;
}

}  // namespace mpiacq::check

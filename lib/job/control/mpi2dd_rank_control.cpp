// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "control/mpi2dd_rank_control.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "rank_identity.hpp"

namespace mpiacq {

namespace {

/// Another process may have the number of a table's entry by now. A process whose info block was read needs no check.
result<attach_target> target_of(const tracked_graph::member& member, std::optional<user_id> user) {
  const auto identity = identify(
      {{}, member.pid, member.executable, rank_number{member.rank}, std::to_string(member.rank), user}, member.is_rank);
  if (identity.state != hold_state::held) {
    return fail(identity.why.value_or(error{error_code::process_gone, "it is not the process that the table lists"}));
  }
  return attach_target{member.pid, identity.start_time, user};
}

}  // namespace

void mpi2dd_rank_control::follow_new() {
  if (!job_.options.follow_ranks) return;
  auto here = job_.graph.members_here();
  std::erase_if(here, [&](const tracked_graph::member& member) { return lent_.contains(member.pid); });
  const auto outcomes = follow(here);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i] || outcomes[i].error().code == error_code::process_gone) continue;
    job_.events.notice(error{outcomes[i].error()}.while_doing(
        fmt::format("following process {}, whose events are not reported", here[i].pid.value())));
  }
}

std::vector<result<void>> mpi2dd_rank_control::follow(std::span<const tracked_graph::member> wanted) {
  std::vector<result<void>> outcomes(wanted.size());
  std::vector<attach_target> targets;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (job_.loop.find(wanted[i].pid) != nullptr || refused_.contains(wanted[i].pid)) continue;
    if (lent_.contains(wanted[i].pid)) {
      outcomes[i] = fail(error_code::busy, fmt::format("process {} is lent to another tool", wanted[i].pid.value()));
      continue;
    }
    if (auto target = target_of(wanted[i], user())) {
      targets.push_back(*target);
      places.push_back(i);
    } else {
      outcomes[i] = fail(std::move(target).error());
    }
  }
  auto attached = job_.control.attach_all(targets);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const tracked_graph::member& member = wanted[places[i]];
    outcomes[places[i]] = std::move(attached[i]);
    if (!outcomes[places[i]]) {
      refused_.insert(member.pid);
      continue;
    }
    begin(member);
  }
  return outcomes;
}

void mpi2dd_rank_control::begin(const tracked_graph::member& wanted) {
  mpi2dd::acquisition_options how;
  if (wanted.is_rank) how.of = mpi2dd::part::rank;
  followed_process& added =
      job_.processes
          .try_emplace(wanted.pid, job_.traps, wanted.pid, job_.options.debug_files, make_mpi2dd_interface(how), user())
          .first->second;
  added.is_member = true;
  added.stopped = true;
  if (auto opened = added.program.open(); !opened) return job_.events.notice_failure(opened);
  (void)job_.loop.carry_out(added, added.interface->at_attach(added.program.view()), write_duration::while_controlled);
}

followed_process* mpi2dd_rank_control::member(process_id pid) const {
  const auto found = job_.processes.find(pid);
  return found != job_.processes.end() && found->second.is_member ? &found->second : nullptr;
}

std::vector<result<void>> mpi2dd_rank_control::hold(std::span<const process_id> ranks) {
  std::map<process_id, tracked_graph::member> known;
  for (tracked_graph::member& member : job_.graph.members_here()) known.emplace(member.pid, std::move(member));
  std::vector<tracked_graph::member> wanted;
  for (const process_id rank : ranks) {
    refused_.erase(rank);
    wanted.push_back(known.try_emplace(rank, tracked_graph::member{rank, {}, true, 0}).first->second);
  }
  auto outcomes = follow(wanted);
  for (const process_id rank : ranks) {
    if (followed_process* const followed = member(rank)) followed->stays = true;
  }
  job_.loop.stop_all(ranks);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!outcomes[i] || holds(ranks[i])) continue;
    outcomes[i] = job_.loop.find(ranks[i]) == nullptr
                      ? fail(error_code::process_gone, fmt::format("process {} has ended", ranks[i].value()))
                      : fail(error_code::timed_out,
                             fmt::format("process {}: not all of its threads stopped in time", ranks[i].value()));
  }
  return outcomes;
}

bool mpi2dd_rank_control::holds(process_id rank) const {
  const followed_process* const followed = member(rank);
  return followed != nullptr && followed->stopped;
}

void mpi2dd_rank_control::run_on_idle() {
  for (auto& [pid, process] : job_.processes) {
    if (process.is_member && process.stopped && !process.waits) job_.loop.run_on(process);
  }
}

result<void> mpi2dd_rank_control::run_on() {
  for (auto& [pid, process] : job_.processes) {
    if (!process.is_member) continue;
    process.stays = false;
    if (process.waits && job_.events.has_event_of(pid, job_.starter)) continue;
    process.waits = false;
    if (process.stopped) job_.loop.run_on(process);
  }
  return {};
}

/// The detach takes breakpoints away. A running process is not stopped for its flags, because only the debugger writes
/// them.
void mpi2dd_rank_control::take_back_flags(followed_process& member, bool opens_gate) {
  if (member.program.symbols() == nullptr) return;
  const target seen = member.program.view();
  const auto write = [&](process_interface::steps steps) {
    if (steps) std::erase_if(*steps, [](const step& next) { return !std::holds_alternative<write_bytes>(next); });
    (void)job_.loop.carry_out(member, std::move(steps), write_duration::for_good);
  };
  if (opens_gate) write(member.interface->open_gate(seen));
  write(member.interface->before_detach(seen));
}

result<void> mpi2dd_rank_control::let_go(leave how) {
  std::vector<process_id> held, others;
  for (auto& [pid, process] : job_.processes) {
    if (!process.is_member) continue;
    const bool stays = how == leave::stopped && process.stays;
    take_back_flags(process, !stays && needs_gate(pid));
    (stays ? held : others).push_back(pid);
  }
  std::erase_if(job_.processes, [](const auto& entry) { return entry.second.is_member; });
  result<void> outcome;
  const auto take = [&](std::vector<result<void>> answers) {
    for (result<void>& left : answers) {
      if (!left && left.error().code != error_code::process_gone) outcome = std::move(left);
    }
  };
  take(job_.control.detach_all(others, leave::running));
  take(job_.control.detach_all(held, how));
  return outcome;
}

/// The rank is stopped first, so that no event is lost that it raises in the meantime.
result<bool> mpi2dd_rank_control::lend(process_id rank) {
  if (followed_process* const running = member(rank)) {
    if (running->stopped) return false;
    running->stays = true;
    job_.loop.stop_all(std::array{rank});
  }
  followed_process* const followed = member(rank);
  if (followed == nullptr) {
    lent_.insert(rank);
    return true;
  }
  followed->stays = false;
  if (!followed->stopped) {
    return fail(error_code::timed_out, fmt::format("process {}: not all of its threads stop", rank.value()));
  }
  if (followed->waits) return false;
  take_back_flags(*followed, needs_gate(rank));
  job_.processes.erase(rank);
  lent_.insert(rank);
  auto left = job_.control.detach(rank);
  if (!left && left.error().code != error_code::process_gone) return fail(std::move(left).error());
  return true;
}

std::vector<entry_index> mpi2dd_rank_control::gates(const process_table& table, const mpir::job_facts&) {
  std::vector<entry_index> closed;
  for (const entry_index entry : table.entries()) {
    const auto host = table.host_name(entry).value_or("");
    if (waits_at_gate(job_.graph, job_.starter, host, table.pid(entry))) closed.push_back(entry);
  }
  return closed;
}

bool mpi2dd_rank_control::needs_gate(process_id rank) const {
  return job_.graph.is_rank(rank) && waits_at_gate(job_.graph, job_.starter, job_.here.name(), rank);
}

result<bool> mpi2dd_rank_control::open_gate(process_id rank) {
  followed_process* const known = job_.loop.find(rank);
  if (known == nullptr || known->program.symbols() == nullptr) return open_gate_from_outside(rank);
  if (!known->has_interface()) return false;
  (void)job_.loop.carry_out(*known, known->interface->open_gate(known->program.view()),
                            write_duration::while_controlled);
  return true;
}

result<bool> mpi2dd_rank_control::open_gate_from_outside(process_id rank) {
  traced_program program(job_.traps, rank, job_.options.debug_files, user());
  TRY(program.open());
  const target seen = program.view();
  const auto gate = TRY(mpi2dd::gate_of_rank(seen));
  if (!gate) return false;
  for (const mpi2dd::write_flags& write : *gate) TRY(program.write(write.address, write.bytes));
  return true;
}

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "control/mpi2dd_rank_control.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "rank_identity.hpp"

namespace mpiacq {

namespace {

/// A number out of a table may have gone to another process since. A process whose info block was read is what it is.
result<attach_target> target_of(const tracked_graph::member& member, std::optional<user_id> user) {
  const auto identity =
      identify({static_cast<std::uint32_t>(member.rank), member.pid, member.executable, {}, {}, user}, member.is_rank);
  if (identity.state != hold_state::held) {
    return fail(identity.why.value_or(error{error_code::process_gone, "it is not the process that the table means"}));
  }
  return attach_target{member.pid, identity.start_time, user};
}

}  // namespace

void job::state::mpi2dd_rank_control::take_in() {
  if (!job_.options.follow_ranks) return;
  auto here = job_.graph->members_here();
  std::erase_if(here, [&](const tracked_graph::member& member) { return lent_.contains(member.pid); });
  const auto outcomes = follow(here);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i] || outcomes[i].error().code == error_code::process_gone) continue;
    job_.notice(error{outcomes[i].error()}.while_doing(
        fmt::format("following process {}, whose events will not be seen", here[i].pid.value())));
  }
}

std::vector<result<void>> job::state::mpi2dd_rank_control::follow(std::span<const tracked_graph::member> wanted) {
  std::vector<result<void>> outcomes(wanted.size());
  std::vector<attach_target> targets;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (job_.find(wanted[i].pid) != nullptr || refused_.contains(wanted[i].pid)) continue;
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
  auto attached = job_.control->attach_all(targets);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const tracked_graph::member& member = wanted[places[i]];
    outcomes[places[i]] = std::move(attached[i]);
    if (!outcomes[places[i]]) {
      refused_.insert(member.pid);
      continue;
    }
    mpi2dd::acquisition_options how;
    if (member.is_rank) how.of = mpi2dd::part::rank;
    followed_process& added = job_.members
                                  .try_emplace(member.pid, *job_.control, member.pid, job_.options.debug_files,
                                               make_mpi2dd_interface(how), user())
                                  .first->second;
    added.is_member = true;
    begin(added);
  }
  return outcomes;
}

void job::state::mpi2dd_rank_control::begin(followed_process& member) {
  member.stopped = true;
  if (auto opened = member.program.open(); !opened) return job_.notice_failure(opened);
  (void)job_.carry_out(member, member.interface->at_attach(member.program.view()));
}

std::vector<result<void>> job::state::mpi2dd_rank_control::hold(std::span<const process_id> ranks) {
  std::map<process_id, tracked_graph::member> known;
  for (tracked_graph::member& member : job_.graph->members_here()) known.emplace(member.pid, std::move(member));
  std::vector<tracked_graph::member> wanted;
  for (const process_id rank : ranks) {
    refused_.erase(rank);
    wanted.push_back(known.try_emplace(rank, tracked_graph::member{rank, {}, true, 0}).first->second);
  }
  auto outcomes = follow(wanted);
  for (const process_id rank : ranks) {
    followed_process* const member = job_.find(rank);
    if (member == nullptr || !member->is_member) continue;
    member->stays = true;
  }
  job_.stop_all(ranks);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!outcomes[i] || holds(ranks[i])) continue;
    outcomes[i] = job_.find(ranks[i]) == nullptr
                      ? fail(error_code::process_gone, fmt::format("process {} has ended", ranks[i].value()))
                      : fail(error_code::timed_out,
                             fmt::format("process {}: not all of its threads stopped in time", ranks[i].value()));
  }
  return outcomes;
}

bool job::state::mpi2dd_rank_control::holds(process_id rank) const {
  const auto found = job_.members.find(rank);
  return found != job_.members.end() && found->second.stopped;
}

result<void> job::state::mpi2dd_rank_control::run_on() {
  for (auto& [pid, member] : job_.members) {
    member.stays = false;
    if (member.waits && job_.is_untold(pid)) continue;
    member.waits = false;
    if (member.stopped) job_.run_on(member);
  }
  return {};
}

/// Breakpoints go with the tracer's detach. A process that runs is not stopped for its flags: nobody but us writes
/// them.
void job::state::mpi2dd_rank_control::take_back_flags(followed_process& member, bool opens_gate) {
  if (member.program.symbols() == nullptr) return;
  const target seen = member.program.view();
  const auto write = [&](process_interface::steps steps) {
    if (steps) std::erase_if(*steps, [](const step& next) { return !std::holds_alternative<write_bytes>(next); });
    (void)job_.carry_out(member, std::move(steps));
  };
  if (opens_gate) write(member.interface->open_gate(seen));
  write(member.interface->before_detach(seen));
}

result<void> job::state::mpi2dd_rank_control::let_go(leave how) {
  std::vector<process_id> held, others;
  for (auto& [pid, member] : job_.members) {
    const bool stays = how == leave::stopped && member.stays;
    take_back_flags(member, !stays && needs_gate(pid));
    (stays ? held : others).push_back(pid);
  }
  job_.members.clear();
  result<void> outcome;
  const auto take = [&](std::vector<result<void>> answers) {
    for (result<void>& left : answers) {
      if (!left && left.error().code != error_code::process_gone) outcome = std::move(left);
    }
  };
  take(job_.control->detach_all(others, leave::running));
  take(job_.control->detach_all(held, how));
  return outcome;
}

/// Stopped first, so that nothing that it says in the meantime is lost.
result<bool> job::state::mpi2dd_rank_control::lend(process_id rank) {
  if (const auto found = job_.members.find(rank); found != job_.members.end()) {
    if (found->second.stopped) return false;
    found->second.stays = true;
    job_.stop_all(std::array{rank});
  }
  const auto found = job_.members.find(rank);
  if (found == job_.members.end()) {
    lent_.insert(rank);
    return true;
  }
  followed_process& member = found->second;
  member.stays = false;
  if (!member.stopped) {
    return fail(error_code::timed_out, fmt::format("process {}: not all of its threads stop", rank.value()));
  }
  if (member.waits) return false;
  job_.withdrawing = true;
  take_back_flags(member, needs_gate(rank));
  job_.withdrawing = false;
  job_.members.erase(found);
  lent_.insert(rank);
  auto left = job_.control->detach(rank);
  if (!left && left.error().code != error_code::process_gone) return fail(std::move(left).error());
  return true;
}

void job::state::mpi2dd_rank_control::take_back(process_id rank) {
  if (lent_.erase(rank) == 0) return;
  // What it raised meanwhile nobody has heard; what became of it stands in the tables.
  auto changed = job_.graph->reread_what_changed(rank, {false, false, false});
  if (!changed) return job_.notice_failure(fail(std::move(changed).error()));
  if (!changed->came.empty() || changed->left != 0) {
    job_.take_table();
    job_.notice(error{error_code::busy,
                      fmt::format("while process {} was another tool's, its events were not seen: {} processes have "
                                  "come, and {} have gone",
                                  rank.value(), changed->came.size(), changed->left)});
  }
  take_in();
  job_.open_gates(true);
  for (auto& [pid, member] : job_.members) {
    if (member.stopped && !member.waits) job_.run_on(member);
  }
}

result<bool> job::state::mpi2dd_rank_control::open_gate(process_id rank) {
  followed_process* const known = job_.find(rank);
  if (known != nullptr && known->program.symbols() != nullptr) {
    if (!known->has_interface()) return false;
    (void)job_.carry_out(*known, known->interface->open_gate(known->program.view()));
    return true;
  }
  // One that is not followed: its flags are ours to write all the same.
  traced_program program(*job_.control, rank, job_.options.debug_files, user());
  if (auto opened = program.open(); !opened) return fail(std::move(opened).error());
  const target seen = program.view();
  const auto info = mpi2dd::find_info(seen);
  if (!info || !*info) return false;
  const auto block = mpi2dd::read_info_block(seen, (*info)->address());
  if (!block) return fail(block.error());
  if (block->debugger_flags.has(mpi2dd::debugger_flag::gate)) return true;
  std::vector<std::byte> bytes(4);
  encode_integer(block->debugger_flags.with(mpi2dd::debugger_flag::gate).bits(), seen.abi.order, bytes);
  const auto offset = mpi2dd::layout_of_info(seen.abi.pointer_size).debugger_flags;
  if (auto written = program.write((*info)->address() + offset, bytes); !written) {
    return fail(std::move(written).error());
  }
  return true;
}

}  // namespace mpiacq

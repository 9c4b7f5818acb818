// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "rank_identity.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "descriptors/if_plenty_are_left.hpp"
#include "launcher_variables.hpp"
#include "mpiacq/process/process_user.hpp"
#include "proc/process_facts.hpp"
#include "text/file_name.hpp"

namespace mpiacq {

namespace {

rank_identity not_it(hold_state state, error why) {
  rank_identity identity;
  identity.state = state;
  identity.why = std::move(why);
  return identity;
}

rank_identity gone(const rank_process& rank) {
  return not_it(hold_state::gone, error{error_code::process_gone, fmt::format("rank {}: there is no process {}",
                                                                              name_of(rank), rank.pid.value())});
}

/// The result if a fact cannot be read. Unless the process has ended, this does not prove that it is another process:
/// this program may have no descriptor left.
rank_identity unknown_now(const rank_process& rank, error why) {
  if (why.code == error_code::process_gone) return gone(rank);
  return not_it(hold_state::failed, std::move(why).while_doing(fmt::format("rank {}", name_of(rank))));
}

std::optional<rank_identity> other_users(const rank_process& rank, const process_facts& facts) {
  const auto& users = facts.users();
  if (!users) return unknown_now(rank, users.error());
  auto why = why_no_rank(rank.pid, *users, *rank.user);
  if (!why) return std::nullopt;
  why->message = fmt::format("rank {}: {}; it is left alone", name_of(rank), why->message);
  return not_it(hold_state::not_permitted, std::move(*why));
}

/// The command line is compared only if nothing else confirms the rank.
std::optional<std::string> why_not_rank(const rank_process& rank, const process_facts& facts) {
  rank_evidence evidence{facts.executable().value_or(""), std::nullopt, {}};
  if (const auto& environment = facts.environment()) evidence.environment = *environment;
  if (!why_not_rank(rank, evidence)) return std::nullopt;
  evidence.command_line = facts.command_line().value_or("");
  return why_not_rank(rank, evidence);
}

}  // namespace

std::optional<std::string> why_not_rank(const rank_process& rank, const rank_evidence& evidence) {
  const launcher_variables told = decode_launcher_variables(evidence.environment.value_or(""));
  const std::string number = rank.rank ? std::to_string(rank.rank->value()) : std::to_string(rank.entry.value());
  const auto confirms = [&](const rank_variable& one) { return one.value == number; };
  if (std::any_of(told.ranks.begin(), told.ranks.end(), confirms)) return std::nullopt;
  if (!told.ranks.empty() && !told.is_spawned) {
    return fmt::format("its environment says {}={}", told.ranks.front().name, told.ranks.front().value);
  }
  // A relative name proves little: the launcher found it in a PATH that is unknown here.
  const bool comparable = rank.executable.starts_with('/') && !evidence.executable.empty() && evidence.environment;
  if (!comparable || base::file_name_of(evidence.executable) == base::file_name_of(rank.executable))
    return std::nullopt;
  const bool is_argument = any_of_strings(evidence.command_line, [&](std::string_view word) {
    return base::file_name_of(word) == base::file_name_of(rank.executable);
  });
  if (is_argument) return std::nullopt;
  return fmt::format("it runs {} and not {}, and no variable of a launcher says that it is a rank", evidence.executable,
                     rank.executable);
}

rank_identity identify(const rank_process& rank, bool compare) {
  const auto facts = process_facts::open(rank.pid);
  if (!facts) return unknown_now(rank, facts.error());
  if (facts->stat().has_ended()) return gone(rank);
  if (rank.user) {
    if (auto refused = other_users(rank, *facts)) return std::move(*refused);
  }
  if (compare) {
    if (const auto why = why_not_rank(rank, *facts)) {
      return not_it(hold_state::replaced,
                    error{error_code::process_gone, fmt::format("process {} is not rank {}: {}; it is left alone",
                                                                rank.pid.value(), name_of(rank), *why)});
    }
  }
  rank_identity identity;
  identity.start_time = facts->start_time();
  if (auto process = facts->open_pidfd()) {
    identity.process = base::if_plenty_are_left(std::move(*process));
  } else if (process.error().code == error_code::process_gone) {
    return gone(rank);
  }
  return identity;
}

std::optional<std::uint64_t> start_time_of(process_id pid) {
  const auto facts = process_facts::open(pid);
  return facts ? std::optional{facts->start_time()} : std::nullopt;
}

}  // namespace mpiacq

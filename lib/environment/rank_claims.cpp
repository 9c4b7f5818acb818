// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "rank_claims.hpp"

#include <charconv>
#include <cstdint>

#include <fmt/format.h>

namespace mpiacq {

namespace {

/// What the ancestors of a process say of one of its statements.
struct descent {
  bool is_inherited = false;  ///< a process below the launcher has the same variables: that process is the rank
  std::optional<process_id> starter;
  std::optional<process_id> daemon;
};

descent descent_of(node_processes& node, const stating_process& process, const launcher_statement& statement) {
  descent found;
  auto ancestor = node.parent_of(process.pid);
  for (std::size_t n = 0; ancestor && n < node_processes::most_generations; ++n) {
    const launcher_program program = node.program_of(*ancestor);
    if (starts_ranks_of(program, *statement.launcher)) {
      // A launcher that runs inside of a rank has that rank's variables itself.
      auto& place = program.is_starter ? found.starter : found.daemon;
      if (!place) place = *ancestor;
      if (program.is_starter) break;
    } else if (!found.daemon) {
      const stating_process* const above = node.stating(*ancestor);
      const bool says_the_same = above != nullptr && above->user == process.user &&
                                 std::any_of(above->statements.begin(), above->statements.end(),
                                             [&](const launcher_statement& one) { return one.is_same(statement); });
      if (says_the_same) return {true, {}, {}};
    }
    ancestor = node.parent_of(*ancestor);
  }
  return found;
}

/// A step that a shell runs in has one of the highest numbers (slurm.h: SLURM_BATCH_SCRIPT and others).
bool is_no_parallel_step(const launcher_statement& statement) {
  if (statement.launcher->kind != launcher_kind::slurm || statement.job.size() < 2) return false;
  constexpr std::uint32_t first_special_step = 0xfffffff0;
  const std::string& step = statement.job[1];
  std::uint32_t number = 0;
  const auto [end, problem] = std::from_chars(step.data(), step.data() + step.size(), number);
  return problem == std::errc{} && number >= first_special_step;
}

/// The values of a daemon's arguments that name the job: "--control-port HOST:PORT".
std::string job_in_arguments(node_processes& node, process_id daemon, const known_launcher& launcher) {
  const auto facts = node.facts_of(daemon);
  if (!facts || !facts->command_line()) return {};
  constexpr std::size_t most_words = 64;
  std::string found;
  std::string_view wanted;
  std::size_t words = 0;
  (void)any_of_strings(*facts->command_line(), [&](std::string_view word) {
    if (!wanted.empty()) {
      found += fmt::format("{}={}", wanted, word.substr(0, launcher_statement::most_of_job_value));
      found += '\0';
    }
    wanted = {};
    for_each_word(launcher.job_arguments, [&](std::string_view name) {
      if (word == name) wanted = name;
    });
    return ++words > most_words;
  });
  return found;
}

std::string process_key(node_processes& node, process_id pid) {
  const auto facts = node.facts_of(pid);
  return fmt::format("process {} {}", pid.value(), facts ? facts->start_time() : 0);
}

/// Zero bytes stand between the parts, because no variable can contain one.
void add_key(node_processes& node, rank_claim& claim) {
  const launcher_statement& statement = *claim.statement;
  claim.key = fmt::format("{} {}", claim.process->user.value(), name(statement.launcher->kind));
  claim.key += '\0';
  claim.is_known_elsewhere = true;
  if (statement.names_job()) {
    for (const std::string& value : statement.job) (claim.key += value) += '\0';
    return;
  }
  if (claim.daemon) {
    const std::string named = job_in_arguments(node, *claim.daemon, *statement.launcher);
    claim.key += named;
    if (!named.empty()) return;
  }
  claim.is_known_elsewhere = false;
  claim.key += process_key(node, claim.launched_by().value_or(claim.process->parent));
}

std::optional<std::int32_t> rank_of(const launcher_statement& statement) {
  const auto& rank = statement.stated.rank;
  return rank && *rank < INT32_MAX ? std::optional{static_cast<std::int32_t>(*rank)} : std::nullopt;
}

std::optional<rank_claim> claim_of(node_processes& node, const stating_process& process) {
  if (process.program.launcher != nullptr || process.user == no_user) return std::nullopt;
  std::optional<rank_claim> best;
  for (const launcher_statement& one : process.statements) {
    const bool manages = one.launcher->manages_resources;
    if (best && !(manages && !best->statement->launcher->manages_resources)) continue;
    if (manages && (!one.names_job_completely() || is_no_parallel_step(one))) continue;
    descent from = descent_of(node, process, one);
    if (from.is_inherited) continue;
    best = rank_claim{&process, &one, rank_of(one), from.starter, from.daemon, {}};
  }
  if (best) add_key(node, *best);
  return best;
}

}  // namespace

std::vector<rank_claim> rank_claims_in(node_processes& node) {
  std::vector<rank_claim> all;
  for (const stating_process& process : node.stating()) {
    if (auto claim = claim_of(node, process)) all.push_back(std::move(*claim));
  }
  return all;
}

}  // namespace mpiacq

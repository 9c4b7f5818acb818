// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/each_rank.hpp"

#include <utility>

#include <unistd.h>

#include "commands/complaints.hpp"

namespace mpiacq::tool {

namespace {

command_hooks lending(job& subject) {
  const auto may_begin = [&subject](process_id rank) {
    const auto lent = subject.lend(rank);
    if (!lent) complain(lent.error());
    return !lent || *lent;  // a command that does not trace its rank can run all the same
  };
  return {may_begin, [&subject](process_id rank) { subject.take_back(rank); }};
}

}  // namespace

std::vector<command_subject> subjects_for_each(const job& subject, const job_command_options& options) {
  const auto table = subject.processes();
  if (options.each.empty() || !table) return {};
  auto [subjects, left_out] = subjects_of(*table, subject.rank_states(), options.ranks.selection);
  if (!left_out.empty()) complain(left_out);
  return std::move(subjects);
}

std::unique_ptr<rank_commands> run_for_each(job& subject, const job_command_options& options,
                                            std::vector<command_subject> subjects, bool launched) {
  if (options.each.empty() || !subject.processes()) return nullptr;
  const bool report_is_there = options.report.json && (options.report.output.empty() || options.report.output == "-");
  return std::make_unique<rank_commands>(options.each, std::move(subjects), options.jobs,
                                         launched || report_is_there ? STDERR_FILENO : STDOUT_FILENO, lending(subject));
}

void run_for_newcomers(rank_commands& commands, const job& subject, const job_command_options& options,
                       std::shared_ptr<const process_table>& known) {
  const auto table = subject.processes();
  if (!table || std::exchange(known, table) == table) return;
  commands.add(subjects_of(*table, subject.rank_states(), options.ranks.selection).subjects);
}

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "each_rank.hpp"

#include <unistd.h>

#include "commands.hpp"

namespace mpiacq::tool {

std::unique_ptr<rank_commands> run_for_each(const job& subject, const job_command_options& options, bool launched) {
  const auto table = subject.processes();
  if (options.each.empty() || !table) return nullptr;
  auto [subjects, left_out] = subjects_of(*table, subject.rank_states(), options.ranks);
  if (!left_out.empty()) complain(left_out);
  const bool report_is_there = options.report.json && (options.report.output.empty() || options.report.output == "-");
  return std::make_unique<rank_commands>(options.each, std::move(subjects), options.jobs,
                                         launched || report_is_there ? STDERR_FILENO : STDOUT_FILENO);
}

}  // namespace mpiacq::tool

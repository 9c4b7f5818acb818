// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The common parts of the options of all commands.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <CLI/CLI.hpp>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/slurm_job.hpp"
#include "mpiacq/process/core_file.hpp"

namespace mpiacq::tool {

/// The headings for options in the help of a command.
namespace option_group {
inline constexpr auto job = "Job";
inline constexpr auto ranks = "Ranks";
inline constexpr auto stacks = "Stacks";
inline constexpr auto queues = "Message queues";
inline constexpr auto daemons = "Tool daemons";
inline constexpr auto core = "Core file";
inline constexpr auto report = "Report";
inline constexpr std::array in_order = {job, ranks, stacks, queues, daemons, core, report};
}  // namespace option_group

/// Words of the command line with their values.
template <class Value, std::size_t N>
using choices = std::array<std::pair<std::string_view, Value>, N>;

/// "main, all", "main|all"
template <class Value, std::size_t N>
[[nodiscard]] std::string joined(const choices<Value, N>& all, std::string_view separator) {
  std::string text;
  for (const auto& [word, value] : all) text.append(text.empty() ? "" : separator).append(word);
  return text;
}

/// An option whose value is one of some words.
template <class Target, class Value, std::size_t N>
CLI::Option* add_choice(CLI::App& app, const std::string& flag, Target& target, const choices<Value, N>& all,
                        const std::string& about) {
  const auto take = [&target, flag, all](const std::string& given) {
    for (const auto& [word, value] : all) {
      if (word == given) {
        target = value;
        return;
      }
    }
    throw CLI::ValidationError(flag.substr(0, flag.find(',')), "\"" + given + "\" is not one of " + joined(all, ", "));
  };
  return app.add_option_function<std::string>(flag, take, about)->type_name(joined(all, "|"));
}

/// The number if the word is the id of a process.
[[nodiscard]] std::optional<process_id> process_id_in(std::string_view word);

/// The operand JOB: a process of the job, or a job of Slurm ("slurm:42.0").
using job_operand = std::variant<process_id, slurm_job>;
/// Empty: the word is neither.
[[nodiscard]] std::optional<job_operand> job_in(std::string_view word);
/// A command that may do without the operand takes the only job of this node (job_meant).
CLI::Option* add_job_operand(CLI::App& app, std::optional<job_operand>& job);

/// A positive number of seconds.
CLI::Option* add_timeout(CLI::App& app, std::optional<double>& seconds, const std::string& about);
CLI::Option* add_timeout(CLI::App& app, double& seconds, const std::string& about);

/// --executable and --sysroot.
void add_core_file_options(CLI::App& app, core_file_options& files);

}  // namespace mpiacq::tool

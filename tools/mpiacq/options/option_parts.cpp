// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "options/option_parts.hpp"

#include <charconv>
#include <cstdint>

namespace mpiacq::tool {

namespace {

CLI::Option* as_seconds(CLI::Option* option) {
  return option->type_name("SECONDS")
      ->check(CLI::Validator(CLI::PositiveNumber).description(""))
      ->group(option_group::job);
}

}  // namespace

std::optional<process_id> process_id_in(std::string_view word) {
  std::int64_t pid = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), pid);
  if (problem != std::errc{} || end != word.data() + word.size() || pid <= 0) return std::nullopt;
  return process_id{pid};
}

std::optional<job_operand> job_in(std::string_view word) {
  constexpr std::string_view of_slurm = "slurm:";
  if (word.starts_with(of_slurm)) return slurm_job::parse(word.substr(of_slurm.size()));
  return process_id_in(word);
}

CLI::Option* add_job_operand(CLI::App& app, std::optional<job_operand>& job) {
  const auto take = [&job](const std::string& word) {
    job = job_in(word);
    if (!job) {
      throw CLI::ValidationError("\"" + word +
                                 "\" is not the id of a process, and not the number of a Slurm job (slurm:ID[.STEP])");
    }
  };
  return app.add_option_function<std::string>(
      "JOB", take,
      "The process id of the job's starter, or of any process of the job; or slurm:ID[.STEP]. Default: the only job on "
      "this node");
}

CLI::Option* add_timeout(CLI::App& app, std::optional<double>& seconds, const std::string& about) {
  return as_seconds(app.add_option("--timeout", seconds, about));
}

CLI::Option* add_timeout(CLI::App& app, double& seconds, const std::string& about) {
  return as_seconds(app.add_option("--timeout", seconds, about));
}

void add_core_file_options(CLI::App& app, core_file_options& files) {
  app.add_option("--executable", files.executable,
                 "The program's file, if it is not at the path that the core file names")
      ->type_name("FILE")
      ->group(option_group::core);
  app.add_option("--sysroot", files.sysroot,
                 "A folder that stands for the root directory of the machine where the core file was made")
      ->type_name("DIR")
      ->group(option_group::core);
}

}  // namespace mpiacq::tool

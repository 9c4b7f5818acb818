// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "run_command.hpp"

namespace mpiacq::test {

inline std::vector<nlohmann::json> documents_of(const std::string& text) {
  std::vector<nlohmann::json> all;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("{")) all.push_back(nlohmann::json::parse(line));
  }
  return all;
}

/// `mpiacq launch` of an MPI2DD fixture, its reports and what the job wrote down.
struct mpi2dd_launch {
  mpi2dd_launch(const std::vector<std::string>& options, std::vector<std::string> starter)
      : command(run_command(words(options, std::move(starter)), surroundings(folder))),
        reports(documents_of(command.out)) {}

  static std::vector<std::string> words(const std::vector<std::string>& options, std::vector<std::string> starter) {
    std::vector<std::string> all = {MPIACQ_COMMAND, "launch", "-o", "-"};
    all.insert(all.end(), options.begin(), options.end());
    all.emplace_back("--");
    starter.front() = MPIACQ_MPI2DD "/" + starter.front();
    all.insert(all.end(), starter.begin(), starter.end());
    return all;
  }
  static command_options surroundings(const scratch_folder& folder) {
    command_options how;
    how.environment["MPIACQ_ORACLE"] = folder.path("oracle");
    return how;
  }
  [[nodiscard]] std::string said(const std::string& key) const {
    const auto all = read_oracle(folder.path("oracle"));
    const auto found = all.find(key);
    return found == all.end() ? "(nothing)" : found->second;
  }

  scratch_folder folder;
  command_outcome command;
  std::vector<nlohmann::json> reports;
};

inline std::vector<std::string> events_of(const std::vector<nlohmann::json>& reports) {
  std::vector<std::string> all;
  for (const nlohmann::json& report : reports) all.push_back(report.at("event"));
  return all;
}

}  // namespace mpiacq::test

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "run_command.hpp"

namespace mpiacq::test {

inline std::string fixture(const std::string& name) {
  return MPIACQ_STARTERS "/" + name;
}

/// One `mpiacq launch --json` of a fixture, what it reported and what the fixture wrote down.
struct launched {
  command_outcome command;
  std::string report_text;
  nlohmann::json report;  ///< null where there was none
  std::map<std::string, std::string> oracle;

  [[nodiscard]] std::string said(const std::string& key) const {
    const auto found = oracle.find(key);
    return found == oracle.end() ? "(nothing)" : found->second;
  }
};

inline launched launch(std::vector<std::string> starter, const std::vector<std::string>& options = {},
                       command_options how = {}) {
  const scratch_folder folder;
  const std::string report = folder.path("report.json");
  const std::string oracle = folder.path("oracle");
  how.environment["MPIACQ_ORACLE"] = oracle;
  std::vector<std::string> command = {MPIACQ_COMMAND, "launch", "--json", "-o", report};
  command.insert(command.end(), options.begin(), options.end());
  command.emplace_back("--");
  starter.front() = fixture(starter.front());
  command.insert(command.end(), starter.begin(), starter.end());

  launched result;
  result.command = run_command(command, how);
  result.report_text = file_contents(report);
  if (!result.report_text.empty()) result.report = nlohmann::json::parse(result.report_text);
  result.oracle = read_oracle(oracle);
  return result;
}

}  // namespace mpiacq::test

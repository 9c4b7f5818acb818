// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "running_starter.hpp"

namespace mpiacq::test {

inline std::vector<std::string> attach_command(long pid, const std::vector<std::string>& options) {
  std::vector<std::string> words = {MPIACQ_COMMAND, "attach", "--json"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(std::to_string(pid));
  return words;
}

/// One `mpiacq attach --json`, what it reported last and how often.
struct attached {
  command_outcome command;
  nlohmann::json report;  ///< null where there was none
  std::size_t reports = 0;
};

inline attached outcome_of(command_outcome command) {
  attached result{std::move(command), nullptr, 0};
  std::istringstream documents(result.command.out);
  while (documents >> std::ws && documents.peek() != std::char_traits<char>::eof()) {
    documents >> result.report;
    ++result.reports;
  }
  return result;
}

inline attached attach(long pid, const std::vector<std::string>& options = {}, const command_options& how = {}) {
  return outcome_of(run_command(attach_command(pid, options), how));
}

/// The command succeeded with one report, about the job of this starter.
inline void check_attached(const attached& seen, long starter, const std::string& source) {
  INFO(seen.command.err);
  CHECK(seen.command.exit_code == 0);
  REQUIRE(seen.reports == 1);
  CHECK(seen.report.at("source") == source);
  CHECK(seen.report.at("event") == "attached");
  CHECK(seen.report.at("starter").at("pid") == starter);
}

}  // namespace mpiacq::test

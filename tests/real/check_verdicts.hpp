// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What `mpiacq check --json` has said of each clause.
#pragma once

#include <map>
#include <string>

#include "catch.hpp"
#include "real_job.hpp"

namespace mpiacq::test {

inline std::map<std::string, std::string> verdicts(const nlohmann::json& report) {
  std::map<std::string, std::string> found;
  for (const nlohmann::json& clause : report.at("clauses")) found[clause.at("id")] = clause.at("verdict");
  return found;
}

inline void check_verdicts(const nlohmann::json& report, const std::map<std::string, std::string>& expected) {
  const auto found = verdicts(report);
  for (const auto& [id, verdict] : expected) {
    for (const nlohmann::json& clause : report.at("clauses")) {
      if (clause.at("id") != id) continue;
      INFO(id << ": " << clause.at("saw").get<std::string>());
      CHECK(found.at(id) == verdict);
    }
  }
}

}  // namespace mpiacq::test

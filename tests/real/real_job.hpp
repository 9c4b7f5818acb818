// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "mpiacq/ranks/rank_set.hpp"
#include "run_command.hpp"

namespace mpiacq::test {

/// Built for the MPIs of this machine; in another release (MPIACQ_TEST_RANKS names the folder) for those there.
inline std::string rank_program(const std::string& name) {
  const char* elsewhere = std::getenv("MPIACQ_TEST_RANKS");
  return (elsewhere != nullptr ? std::string(elsewhere) : MPIACQ_RANKS) + "/" + name;
}

/// What the ranks said of themselves: "rank R pid P host H", a line each.
inline std::map<long, long> pids_printed(const std::string& output) {
  std::map<long, long> pids;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string rank_word, pid_word;
    long rank = 0, pid = 0;
    if (words >> rank_word >> rank >> pid_word >> pid && rank_word == "rank" && pid_word == "pid") pids[rank] = pid;
  }
  return pids;
}

/// Of all calls that a tree of stacks begins with. At its spawn a rank may be in the program already, or in the loader.
inline std::string ranks_of_tree(const nlohmann::json& tree) {
  rank_set all;
  for (const nlohmann::json& node : tree) {
    if (node.at("parent").is_null()) all.add(rank_set::parse(node.at("ranks").get<std::string>()).value());
  }
  return all.text();
}

inline std::map<long, long> pids_reported(const nlohmann::json& report) {
  std::map<long, long> pids;
  for (const auto& process : report.at("processes"))
    pids[process.at("rank").get<long>()] = process.at("pid").get<long>();
  return pids;
}

/// By rank, what the report says it is doing.
inline std::map<long, std::string> states_reported(const nlohmann::json& report) {
  std::map<long, std::string> states;
  for (const auto& process : report.at("processes")) states[process.at("rank").get<long>()] = process.at("state");
  return states;
}

/// Open MPI as it has to be called by root, on few cores, without its banner about MPIR.
inline std::map<std::string, std::string> openmpi_environment() {
  return {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
          {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
          {"OMPI_MPIR_DO_NOT_WARN", "1"},
          {"OMPI_MCA_rmaps_base_oversubscribe", "1"}};
}

}  // namespace mpiacq::test

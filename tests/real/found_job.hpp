// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the reports of mpiacq say of jobs that run on this node, against what the ranks have said.
#pragma once

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "real_job.hpp"
#include "running_job.hpp"

namespace mpiacq::test {

/// The JSON report of a command of mpiacq, which must succeed.
inline nlohmann::json report_of(const std::vector<std::string>& words, command_options how = {}) {
  how.environment.merge(openmpi_environment());
  std::vector<std::string> line = {MPIACQ_COMMAND};
  line.insert(line.end(), words.begin(), words.end());
  const auto run = run_command(line, how);
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  return nlohmann::json::parse(run.out);
}

/// The starter's pid, and those of its ranks: what a user may name.
inline std::vector<std::string> pids_of(const running_job& job) {
  std::vector<std::string> all = {job.pid_text()};
  for (const auto& [rank, pid] : job.ranks()) all.push_back(std::to_string(pid));
  return all;
}

/// A report of `mpiacq stacks` that has looked at each rank.
inline void check_stacks(const nlohmann::json& report, const running_job& job, const std::string& source) {
  CHECK(report.at("source") == source);
  CHECK(report.at("starter").at("pid") == job.pid());
  std::map<long, long> seen;
  for (const nlohmann::json& rank : report.at("ranks")) {
    CHECK(rank.at("outcome") == "taken");
    seen[rank.at("rank")] = rank.at("pid");
  }
  CHECK(seen == job.ranks());
}

/// By rank, the function and the line in which it has said first that it waits: "rank R waits in FUNCTION at LINE".
inline std::map<long, nlohmann::json> places_said(const std::string& output) {
  std::map<long, nlohmann::json> places;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string rank, waits, in, function, at;
    long number = 0, said = 0;
    const bool whole = words >> rank >> number >> waits >> in >> function >> at >> said && waits == "waits";
    if (whole) places.try_emplace(number, nlohmann::json{{"function", function}, {"line", said}});
  }
  return places;
}

/// By role, the arguments that a report names for one rank.
inline std::map<std::string, nlohmann::json> arguments_of(const nlohmann::json& rank) {
  std::map<std::string, nlohmann::json> all;
  for (const nlohmann::json& one : rank.at("arguments")) all[one.at("role")] = one;
  return all;
}

/// What `mpiacq stacks --args` reports of three ranks of mpi_deadlock with "--barrier yes", once all of them wait: the
/// last one in a receive from rank 0 with tag 9, the others in a barrier.
inline void check_arguments_in_stacks(const running_job& job) {
  nlohmann::json seen;
  CHECK(comes_true([&] {
    seen = report_of({"stacks", "--args", "--json", job.pid_text()});
    std::string calls;
    for (const nlohmann::json& rank : seen.at("ranks")) calls += rank.at("call").dump();
    return calls == R"("MPI_Barrier""MPI_Barrier""MPI_Recv")";
  }));
  INFO(seen.dump(1));
  const auto known = arguments_of(seen.at("ranks").at(2));
  for (const auto& [role, one] : known) {
    CHECK((one.at("source") == "instructions" || one.at("source") == "call-site"));
  }
  REQUIRE(known.size() == 5);
  CHECK(known.at("source").at("value") == 0);
  CHECK(known.at("tag").at("value") == 9);
  CHECK(known.at("count").at("value") == 24);
  CHECK(known.at("datatype").at("name") == "MPI_BYTE");
  CHECK(known.at("communicator").at("name") == "MPI_COMM_WORLD");
  const auto text = run_command({MPIACQ_COMMAND, "stacks", "--args", job.pid_text()});
  INFO(text.out);
  CHECK(text.exit_code == 0);
  CHECK_THAT(text.out, ContainsSubstring("MPI_Barrier(MPI_COMM_WORLD) in "));
  CHECK_THAT(text.out, ContainsSubstring("MPI_Recv(source 0, tag 9, MPI_COMM_WORLD) in "));
  CHECK(comes_true([&] { return job.disturbed().empty(); }));
}

/// A report of `mpiacq jobs`: the job has one row. A job of another test may not have ended yet.
inline void check_listed(const nlohmann::json& list, const running_job& job, const std::string& source,
                         const std::string& launcher) {
  std::size_t rows = 0;
  for (const nlohmann::json& row : list.at("jobs")) {
    if (row.at("pid") != job.pid()) continue;
    ++rows;
    CHECK(row.at("source") == source);
    CHECK(row.at("launcher") == launcher);
    CHECK(row.at("ranks_here") == job.ranks().size());
    CHECK(row.at("ranks") == job.ranks().size());
    CHECK(row.at("problems").empty());
  }
  CHECK(rows == 1);
}

/// No process of the job is stopped or traced, each rank comes to its end, and the job has this status.
inline job_end check_left_alone(running_job& job, int status) {
  CHECK(comes_true([&] { return job.disturbed().empty(); }));
  auto end = job.finish();
  INFO(end.out);
  CHECK(end.as_shell() == status);
  CHECK(end.all_ranks_ended(job.ranks().size()));
  return end;
}

/// What `mpiacq queues` reports of a job whose three ranks wait for each other, once the last of them waits.
inline nlohmann::json deadlock_reported(const std::string& pid, const std::string& source) {
  nlohmann::json seen;
  CHECK(comes_true([&] {
    seen = report_of({"queues", "--json", "--source", source, pid});
    return !seen.at("cycles").empty();
  }));
  INFO(seen.dump(1));
  CHECK(seen.at("source") == source);
  CHECK(seen.at("cycles") == nlohmann::json::parse("[[0, 1, 2]]"));
  return seen;
}

/// Two jobs that run side by side, of launchers without an interface: each is found by its starter and by each of its
/// ranks, and ends by itself.
inline void check_side_by_side(running_job& first, running_job& second, const std::string& launcher) {
  const nlohmann::json list = report_of({"jobs", "--json"});
  for (running_job* const job : {&first, &second}) {
    check_listed(list, *job, "environment", launcher);
    for (const std::string& pid : pids_of(*job))
      check_stacks(report_of({"stacks", "--json", pid}), *job, "environment");
  }
  for (running_job* const job : {&first, &second}) check_left_alone(*job, 0);
}

/// Open MPI 5 and later. A release of PMIx that can harm its job if a tool is killed is asked only if `--source pmix`
/// chooses it.
inline bool is_asked_by_default(const running_job& job) {
  return file_contents("/proc/" + std::to_string(job.ranks().at(0)) + "/environ").find("PMIX_VERSION=7.0.0rc") ==
         std::string::npos;
}

/// Of the report about such a job.
inline std::string usual_source(const running_job& job) {
  return is_asked_by_default(job) ? "pmix" : "environment";
}

}  // namespace mpiacq::test

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The ways in which rank 1 of 3 fails, and what a watch must say of each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "catch.hpp"
#include "crash_job.hpp"

namespace mpiacq::test {

struct way_to_fail {
  const char* kind;
  const char* says;  ///< of the rank, in the verdict
};
inline constexpr way_to_fail ways_to_fail[] = {
    {"segv", "received SIGSEGV for address 0x10"},
    {"fpe", "received SIGFPE for address 0x"},
    {"thread", "received SIGSEGV for address 0x10"},
    {"abort", "received SIGABRT: it called abort"},
    {"assert", "received SIGABRT: an assertion has failed"},
    {"throw", "received SIGABRT: a C++ exception was not caught"},
    {"kill", "received SIGKILL"},
    {"mpi_abort", "called MPI_Abort"},
    {"exit", "exited with status 3 before MPI_Finalize"},
    {"exit0", "exited with status 0 before MPI_Finalize"},
};

struct known_mpi {
  const char* name;  ///< at the end of the programs' names
  std::vector<std::string> starter;
  bool ends_alike = true;  ///< the starter of a job that has failed ends with the same status each time
  /// MPI_Abort returns, and the launcher kills the rank in a later call.
  bool abort_returns = false;
};

inline std::string program_of(const known_mpi& mpi, const std::string& program) {
  return rank_program(program + "_" + mpi.name);
}

inline bool is_there(const known_mpi& mpi, const std::string& program) {
  return is_installed(mpi.starter.front()) && std::filesystem::exists(program_of(mpi, program));
}

inline std::vector<std::string> line_of(const known_mpi& mpi, const std::string& program,
                                        const std::vector<std::string>& words) {
  std::vector<std::string> line = mpi.starter;
  line.push_back(program_of(mpi, program));
  line.insert(line.end(), words.begin(), words.end());
  return line;
}

/// The starter ends as it does without mpiacq.
inline void check_end(const command_outcome& watched, const std::vector<std::string>& line, const known_mpi& mpi) {
  if (!mpi.ends_alike) return;
  const auto alone = run_command(line, openmpi_options());
  CHECK(watched.exit_code == alone.exit_code);
}

/// Each way to fail, by rank 1 of 3.
inline void check_ways(const known_mpi& mpi) {
  for (const way_to_fail& way : ways_to_fail) {
    INFO(mpi.name << ": " << way.kind);
    const scratch_folder folder;
    const std::string reports = folder.path("reports");
    const auto line = line_of(mpi, "mpi_crash", {way.kind});
    const auto run = watch_crash({"--report", reports}, line, folder.path("place"));
    INFO(run.err);
    const std::string place = file_contents(folder.path("place"));
    CHECK(place.starts_with("mpi_crash.cpp:"));
    REQUIRE(std::filesystem::exists(reports + "/report.json"));
    const nlohmann::json report = report_in(reports);
    CHECK(report.at("why") == "crash");
    CHECK(report.at("verdict").at("basis") == "crash");
    const std::string sentence = report.at("verdict").at("sentence");
    if (mpi.abort_returns && way.kind == std::string("mpi_abort")) {
      CHECK_THAT(sentence, ContainsSubstring("received SIGKILL") || ContainsSubstring("called MPI_Abort"));
      continue;
    }
    CHECK(report.at("verdict").at("ranks") == "1");
    CHECK_THAT(sentence, Catch::Matchers::StartsWith("rank 1 " + std::string(way.says)) &&
                             Catch::Matchers::EndsWith(" at " + place));
    CHECK_THAT(run.err, ContainsSubstring("mpiacq: a rank has failed: " + sentence));
    CHECK(file_contents(reports + "/report.txt").starts_with("mpiacq: " + sentence));
    CHECK(file_contents(reports + "/report.html").ends_with("</html>\n"));
    check_end(run, line, mpi);
  }
}

}  // namespace mpiacq::test

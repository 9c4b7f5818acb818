// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Foreign strings of an MPI2DD job, and the bytes that come out of every command.
#include "hostile_text.hpp"
#include "reference_job.hpp"

using namespace mpiacq::test;

TEST_CASE("hostile strings of an MPI2DD job reach no terminal") {
  if (!is_installed("python3")) MPIACQ_SKIP("python3 is not installed");
  const scratch_folder of_ranks, of_directories;
  const std::string line_of_its_own = hostile.substr(0, hostile.find('\n'));  // the fixture sends its requests as lines
  const auto copy = [&](const scratch_folder& folder, const std::string& program) {
    return hostile_copy(folder, MPIACQ_MPI2DD "/" + program, line_of_its_own);
  };
  reference_job job({"mpi2dd_starter", "--ranks", "3", "--world", line_of_its_own, "--directories", "2", "--hold",
                     "--rank-program", copy(of_ranks, "mpi2dd_rank"), "--directory-program",
                     copy(of_directories, "mpi2dd_directory")});
  job.ready();
  const std::vector<std::string> words = GENERATE(values<std::vector<std::string>>({{"graph", "--agents", "none"},
                                                                                    {"graph", "--json"},
                                                                                    {"graph", "--dot"},
                                                                                    {"attach"},
                                                                                    {"attach", "--json"},
                                                                                    {"stacks"},
                                                                                    {"queues"},
                                                                                    {"check"},
                                                                                    {"inspect"}}));
  INFO(words.front());
  std::vector<std::string> line = words;
  line.insert(line.begin(), MPIACQ_COMMAND);
  line.push_back(std::to_string(job.pid()));
  const auto run = run_command(line);
  check_output(run);
  // What an executable is called is in the names of processes.
  if (words.front() == "graph") CHECK_THAT(run.out, ContainsSubstring("]0;title"));
}

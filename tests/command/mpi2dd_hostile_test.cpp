// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Foreign strings of an MPI2DD job, and the bytes that come out of every command.
#include "hostile_text.hpp"
#include "reference_job.hpp"

using namespace mpiacq::test;

TEST_CASE("hostile strings of an MPI2DD job reach no terminal") {
  if (!has_python()) MPIACQ_SKIP("python3 is not installed");
  reference_job job({"mpi2dd_starter", "--ranks", "3", "--world", hostile, "--directories", "2", "--hold"});
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
  check_output(run_command(line));
}

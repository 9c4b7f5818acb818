// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The distribution's mpiexec.hydra, which has no table that a tool could find: its jobs by the environment of their
// ranks. What the ranks print is what must come out.
#include <filesystem>

#include "found_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

std::string why_no_stock_mpich() {
  if (!is_installed("mpiexec.hydra") || !std::filesystem::exists(rank_program("mpi_pids_mpich"))) {
    return "MPICH (mpich, libmpich-dev) is not installed";
  }
  return "";
}

std::vector<std::string> stock_hydra_line(int ranks) {
  return {"mpiexec.hydra", "-n", std::to_string(ranks), rank_program("mpi_pids_mpich")};
}

}  // namespace

TEST_CASE("stock MPICH: two jobs side by side, each by its starter and by each of its ranks", "[releases]") {
  if (const auto why = why_no_stock_mpich(); !why.empty()) MPIACQ_SKIP(why);
  running_job first(stock_hydra_line(2), 2), second(stock_hydra_line(3), 3);
  if (first.ranks().size() != 2 || second.ranks().size() != 3) {
    MPIACQ_SKIP("this mpiexec and libmpich do not find each other: not all ranks have numbers of their own");
  }
  check_side_by_side(first, second, "hydra");
}

TEST_CASE("stock MPICH: a process that a rank has forked is no rank", "[releases]") {
  if (const auto why = why_no_stock_mpich(); !why.empty()) MPIACQ_SKIP(why);
  running_job job(
      {"mpiexec.hydra", "-n", "2", "sh", "-c", "sleep 600 & \"$0\" \"$@\"; kill $!", rank_program("mpi_pids_mpich")},
      2);
  const json report = report_of({"stacks", "--json", job.pid_text()});
  REQUIRE(report.at("ranks").size() == 2);
  for (const json& rank : report.at("ranks")) {
    CHECK(rank.at("outcome") == "taken");
    // The shell is the rank; the program and `sleep` are its children.
    const long pid = rank.at("pid");
    CHECK(std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe").filename().string().ends_with("sh"));
  }
  CHECK(comes_true([&] { return job.disturbed().empty(); }));
  CHECK(job.finish().as_shell() == 0);
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// One running mpirun, attached to and let go of many times: it ends as it would have, and nothing is left of us.

#include <unistd.h>

#include "mpiacq/job/job.hpp"
#include "open_descriptors.hpp"
#include "openmpi.hpp"
#include "patience.hpp"
#include "running_job.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

std::string children_of_this_thread() {
  return file_contents("/proc/self/task/" + std::to_string(::gettid()) + "/children");
}

std::map<long, long> pids_of(const process_table& table) {
  std::map<long, long> pids;
  for (std::size_t i = 0; i < table.size(); ++i)
    pids[static_cast<long>(i)] = static_cast<long>(table.pid(entry_index{i}).value());
  return pids;
}

/// What one attach saw, let go of again.
std::map<long, long> attach_once(pid_t starter) {
  const auto attached = job::attach(process_id{starter});
  if (!attached) {
    FAIL_CHECK(attached.error().message);
    return {};
  }
  while (true) {
    const auto event = (*attached)->next(clock::now() + patience);
    if (!event || !*event) {
      FAIL_CHECK("no event: " << (event ? "in time" : event.error().message));
      return {};
    }
    if (const auto* notice = std::get_if<job_notice>(&**event)) FAIL_CHECK(notice->what.message);
    if (std::holds_alternative<job_attached>(**event)) break;
  }
  auto pids = pids_of(*(*attached)->processes());
  const auto left = (*attached)->detach();
  if (!left) FAIL_CHECK(left.error().message);
  return pids;
}

}  // namespace

TEST_CASE(
    "Open MPI: a job that is attached to and released 500 times, and 20 times by the command, ends as it would have") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  running_job job(mpirun_line(4, {"--exit", "3"}), 4);
  REQUIRE(job.ranks().size() == 4);
  const std::string image = image_of(job.pid(), openmpi_library);
  REQUIRE_FALSE(image.empty());
  (void)attach_once(job.pid());  // what is opened once and kept is open now
  const std::size_t descriptors = open_descriptors();
  const std::string children = children_of_this_thread();

  constexpr int rounds = 500;
  const auto begin = clock::now();
  for (int round = 0; round < rounds; ++round) {
    INFO("round " << round);
    REQUIRE(attach_once(job.pid()) == job.ranks());
    REQUIRE(job.disturbed() == "");
  }
  const std::chrono::duration<double> took = clock::now() - begin;
  WARN(rounds << " rounds took " << took.count() << " s");
  CHECK(open_descriptors() == descriptors);
  CHECK(children_of_this_thread() == children);

  for (int round = 0; round < 20; ++round) {
    INFO("round " << round << " of the command");
    const auto run = run_command({MPIACQ_COMMAND, "attach", "--json", job.pid_text()});
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    REQUIRE(pids_reported(nlohmann::json::parse(run.out)) == job.ranks());
    REQUIRE(job.disturbed() == "");
  }
  CHECK(image_of(job.pid(), openmpi_library) == image);
  const job_end end = job.finish();
  INFO(end.out);
  CHECK(end.as_shell() == 3);
  CHECK(end.all_ranks_ended(4));
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the command's reports of stacks and queues allocate beside what they report: they are written piece by piece.
#include <memory>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "catch.hpp"
#include "peak_allocated.hpp"
#include "report/queues_report.hpp"
#include "report/stacks_report.hpp"
#include "run_command.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

struct writing_cost {
  std::size_t written = 0;
  std::size_t peak = 0;
};

/// Writes a report into a file, which the kernel gives the size of.
template <class Write>
writing_cost cost_of(Write write) {
  const scratch_folder folder;
  const int file = ::open(folder.path("report").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(file >= 0);
  writing_cost cost;
  cost.peak = peak_allocated_by([&] {
    tool::report_stream out(file, false);
    write(out);
    out.flush();
    CHECK(out.failure() == 0);
  });
  struct stat facts {};
  REQUIRE(::fstat(file, &facts) == 0);
  ::close(file);
  cost.written = static_cast<std::size_t>(facts.st_size);
  return cost;
}

thread_stack stack_in(const std::string& function) {
  thread_stack stack;
  for (const std::string& name : {function, std::string("main")}) {
    stack.frames.push_back(
        {{}, std::make_shared<const code_place>(code_place{name, "waits.c", 1, "/bin/app", {}}), false});
  }
  return stack;
}

}  // namespace

TEST_CASE("text and dot of many different stacks allocate less than half of what is written") {
  if (!counts_peaks()) MPIACQ_SKIP("allocations are counted by AddressSanitizer's hooks only");
  tool::stacks_snapshot snapshot;
  for (std::uint32_t rank = 0; rank < 10'000; ++rank) {
    snapshot.tree.add(entry_index{rank}, stack_in("stage_" + std::to_string(rank) + std::string(1000, 'x')));
    snapshot.ranks.push_back({entry_index{rank}, process_id{1 + rank}, "", true, 1, {}});
  }
  const bool dot = GENERATE(true, false);
  INFO((dot ? "dot" : "text"));
  const writing_cost cost = cost_of([&](tool::report_stream& out) {
    dot ? tool::write_stacks_dot(out, snapshot) : tool::write_stacks_text(out, snapshot, false);
  });
  CHECK(cost.written > 10'000 * 1000);
  CHECK(cost.peak < cost.written / 2);
}

TEST_CASE("the text of all operations allocates less than a quarter of what is written") {
  if (!counts_peaks()) MPIACQ_SKIP("allocations are counted by AddressSanitizer's hooks only");
  queue_communicator world;
  world.name = "MPI_COMM_WORLD";
  queue_operation operation;
  operation.extra = {std::string(1000, 'x')};
  world.of(queue_class::sends).operations.assign(10'000, operation);
  tool::queues_snapshot snapshot;
  snapshot.verbose = true;
  snapshot.seen.ranks.push_back({{}, process_id{1}, queue_report{}});
  snapshot.seen.ranks.back().report->communicators.push_back(world);
  const writing_cost cost = cost_of([&](tool::report_stream& out) { tool::write_queues_text(out, snapshot, false); });
  CHECK(cost.written > 10'000 * 1000);
  CHECK(cost.peak < cost.written / 4);
}

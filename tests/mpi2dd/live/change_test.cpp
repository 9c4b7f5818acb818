// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Jobs that change, or end, while they are read.
#include <csignal>
#include <functional>

#include "local_targets.hpp"
#include "told_graph.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using mpi2dd::visit_state;

namespace {

/// A process of this node that changes between two reads of its memory.
class disturbed final : public mpi2dd::opened_process, public memory_reader {
 public:
  using before_read = std::function<void(std::size_t reads)>;
  disturbed(std::unique_ptr<mpi2dd::opened_process> inner, before_read act)
      : inner_(std::move(inner)), act_(std::move(act)) {}
  target as_target() override {
    const target seen = inner_->as_target();
    return {*this, nullptr, seen.abi, seen.symbols};
  }
  result<void> read_ranges(std::span<memory_range> ranges) override {
    act_(reads_++);
    return inner_->as_target().memory.read_ranges(ranges);
  }

 private:
  std::unique_ptr<mpi2dd::opened_process> inner_;
  before_read act_;
  std::size_t reads_ = 0;
};

mpi2dd::opener disturbing(const local_targets& targets, pid_t whom, disturbed::before_read act) {
  return [&targets, whom, act = std::move(act)](
             std::string_view host, process_id pid,
             std::string_view executable) -> result<std::unique_ptr<mpi2dd::opened_process>> {
    auto opened = targets.open(host, pid, executable);
    if (!opened || pid.value() != whom) return opened;
    return std::make_unique<disturbed>(std::move(*opened), act);
  };
}

}  // namespace

TEST_CASE("a directory that dies while it is read keeps its entries so far, and the walk goes on") {
  // Before the info block, before its strings, in the middle of its table, before the block is looked at again.
  for (const std::size_t moment : {0U, 1U, 2U, 3U, 4U}) {
    INFO(moment);
    reference_job job{{"mpi2dd_starter", "--ranks", "6", "--directories", "3", "--world", "w0", "--hold"}};
    job.ready();
    const pid_t dying = job.said_pid("directory.1.pid");
    const local_targets targets;
    const auto open = disturbing(targets, dying, [&](std::size_t reads) {
      if (reads != moment) return;
      ::kill(dying, SIGKILL);
      (void)comes_true([&] { return process_state(dying) == 'Z' || process_state(dying) == ' '; });
    });
    const auto g = mpi2dd::walk(targets.start(process_id{job.pid()}), open, targets.options());
    REQUIRE(g.has_value());
    const mpi2dd::visit* v = g->visit_of(*g->find(targets.host(), process_id{dying}));
    REQUIRE(v != nullptr);
    CHECK((v->state == visit_state::read || v->state == visit_state::unreadable));
    REQUIRE(v->failure.has_value());
    CHECK(v->failure->code == error_code::process_gone);
    CHECK(g->visits().size() == 4);
    CHECK(ranks_of(*g).size() >= 4);
  }
}

TEST_CASE("a table that is replaced while it is read is read again") {
  reference_job job{{"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--hold"}};
  job.ready();
  const local_targets targets;
  const auto open = disturbing(targets, job.pid(), [&](std::size_t reads) {
    if (reads == 3) job.tell(job.pid(), "process,localhost,/bin/late,w0,4194001,2");
  });
  const auto g = mpi2dd::walk(targets.start(process_id{job.pid()}), open, targets.options());
  REQUIRE(g.has_value());
  const mpi2dd::visit& v = g->visits()[0];
  CHECK(v.rereads == 1);
  CHECK_FALSE(v.unsettled);
  words expected = told_ranks(job);
  expected.insert("w0 2 is 4194001");
  CHECK(ranks_of(*g) == expected);
}

TEST_CASE("a table that changes at every reading is read a few times, and the visit is marked as unsettled") {
  reference_job job{{"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--hold"}};
  job.ready();
  const local_targets targets;
  const auto open = disturbing(targets, job.pid(), [&](std::size_t reads) {
    job.tell(job.pid(), "process,localhost,/bin/late,w0," + std::to_string(4000000 + reads) + ",5");
  });
  const auto g = mpi2dd::walk(targets.start(process_id{job.pid()}), open, targets.options());
  REQUIRE(g.has_value());
  CHECK(g->visits()[0].unsettled);
  CHECK(g->visits()[0].rereads == mpi2dd::walk_limits{}.max_rereads);
  CHECK(ranks_of(*g).size() > 2);
}

TEST_CASE("a spawn between two looks is found by reading the changed table alone") {
  reference_job job{
      {"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--directories", "1", "--hold", "step", "spawn_apart=2"}};
  job.ready();
  const local_targets targets;
  auto g = mpi2dd::walk(targets.start(process_id{job.pid()}), targets.opener(), targets.options());
  REQUIRE(g.has_value());
  CHECK(g->worlds().size() == 1);
  job.go_on();
  job.ready();
  const auto changed = mpi2dd::refresh(*g, g->start(), {false, true, false}, targets.opener(), targets.options());
  REQUIRE(changed.has_value());
  CHECK(ranks_of(*g) == told_ranks(job));
  CHECK(spawns_of(*g) == told_spawns(job));
}

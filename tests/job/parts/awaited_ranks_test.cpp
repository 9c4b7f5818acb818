// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/awaited_ranks.hpp"

#include "fake_parts.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace std::chrono_literals;

namespace {

std::string environment(std::vector<std::string> variables) {
  std::string all;
  for (const std::string& one : variables) (all += one) += '\0';
  return all;
}

std::string rank_of_hydra(int rank) {
  return environment({"PMI_RANK=" + std::to_string(rank), "PMI_SIZE=2", "MPI_LOCALNRANKS=2"});
}

}  // namespace

TEST_CASE("awaited ranks: a process with the variables of a rank is one, once, and variables of the starter are not") {
  const std::string of_batch_script = environment({"SLURM_PROCID=0", "SLURM_JOB_ID=7", "SLURM_STEP_ID=1"});
  awaited_ranks awaited(of_batch_script);
  const auto now = clock::now();
  CHECK_FALSE(awaited.at_entry(process_id{10}, of_batch_script, now).is_rank);
  const auto first = awaited.at_entry(process_id{11}, of_batch_script + rank_of_hydra(0), now);
  CHECK(first.is_rank);
  CHECK(first.is_counted);
  // It executes a second program.
  CHECK_FALSE(awaited.at_entry(process_id{11}, of_batch_script + rank_of_hydra(0), now).is_rank);
  const auto uncounted = awaited.at_entry(process_id{12}, environment({"PALS_RANKID=1", "PALS_APID=x"}), now);
  CHECK(uncounted.is_rank);
  CHECK_FALSE(uncounted.is_counted);
  CHECK_FALSE(awaited.at_entry(process_id{13}, environment({"PMI_RANK=many", "PMI_SIZE=2"}), now).is_rank);
  CHECK(awaited.count() == 2);
}

TEST_CASE("awaited ranks: no rank is held for longer than a time after the latest arrival") {
  awaited_ranks awaited("");
  const auto begin = clock::now();
  (void)awaited.at_entry(process_id{1}, rank_of_hydra(0), begin);
  awaited.hold(process_id{1});
  (void)awaited.at_entry(process_id{2}, rank_of_hydra(1), begin + 900ms);
  awaited.hold(process_id{2});
  CHECK(awaited.take_overdue(begin + awaited_ranks::longest_hold + 100ms).empty());
  const auto overdue = awaited.take_overdue(begin + 900ms + awaited_ranks::longest_hold);
  CHECK(overdue == std::vector{process_id{1}, process_id{2}});
  CHECK(awaited.take_overdue(begin + 1h).empty());
}

TEST_CASE("awaited ranks: a job is reported when it is complete, or when no more ranks have come for a time") {
  awaited_ranks awaited("");
  const auto begin = clock::now();
  CHECK_FALSE(awaited.is_to_be_reported(0, rank_count::uncounted, begin));
  CHECK_FALSE(awaited.is_to_be_reported(0, rank_count::uncounted, begin + 1h));
  SECTION("complete") {
    CHECK(awaited.is_to_be_reported(2, rank_count::complete, begin + 2h));
  }
  SECTION("nobody says how many") {
    CHECK_FALSE(awaited.is_to_be_reported(2, rank_count::uncounted, begin + 2h));
    CHECK_FALSE(awaited.is_to_be_reported(3, rank_count::uncounted, begin + 2h + awaited_ranks::settle_time));
    CHECK(awaited.is_to_be_reported(3, rank_count::uncounted, begin + 2h + 2 * awaited_ranks::settle_time));
  }
  SECTION("some are announced and do not come") {
    CHECK_FALSE(awaited.is_to_be_reported(2, rank_count::lacking, begin + 2h));
    CHECK_FALSE(awaited.is_to_be_reported(2, rank_count::lacking, begin + 2h + awaited_ranks::settle_time));
    CHECK(awaited.is_to_be_reported(2, rank_count::lacking, begin + 2h + awaited_ranks::longest_wait));
  }
}

TEST_CASE("awaited ranks: looks take a part of the time alone") {
  awaited_ranks awaited("");
  CHECK(awaited.next_look(100ms) >= 2s);
  (void)awaited.at_entry(process_id{1}, rank_of_hydra(0), clock::now());
  CHECK(awaited.next_look(0ms) <= 20ms);
  CHECK(awaited.next_look(100ms) >= 300ms);
}

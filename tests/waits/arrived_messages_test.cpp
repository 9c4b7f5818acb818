// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the reason of a wait says of messages that have arrived with other tags.
#include "catch.hpp"
#include "made_calls.hpp"
#include "made_reports.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// A message for a rank that no receive has asked for.
void arrive(made_job& job, std::uint32_t at, std::int64_t from, std::int64_t tag, std::size_t place = 0) {
  queue_operation message = operation(from, tag);
  message.desired.global = static_cast<std::uint32_t>(from);
  job.communicator(at, place).of(queue_class::unexpected).operations.push_back(message);
}

/// Behind the usual reason of the only wait.
std::string said_of_arrived(const made_job& job) {
  const queue_waits found = job.waits();
  REQUIRE(found.waits.size() == 1);
  const std::string& why = found.waits.front().why;
  const auto at = why.find(';');
  return at == std::string::npos ? "" : why.substr(at);
}

}  // namespace

TEST_CASE("a wait for a message names one of the same sender that has arrived with another tag") {
  made_job job(3);
  job.receive(0, 1, 11).in(0, "MPI_Recv");
  SECTION("one") {
    arrive(job, 0, 1, 10);
    CHECK(job.waits().waits.at(0).why ==
          "in MPI_Recv: a receive with tag 11 on MPI_COMM_WORLD, and no send for it; a message from rank 1 with tag 10 "
          "has arrived");
    CHECK(job.waits().waits.at(0).certain);
  }
  SECTION("several") {
    arrive(job, 0, 2, 9);
    arrive(job, 0, 1, 10);
    arrive(job, 0, 1, 12);
    CHECK(said_of_arrived(job) == "; 2 messages from rank 1 have arrived, the first with tag 10");
  }
  SECTION("of another sender") {
    arrive(job, 0, 2, 10);
    CHECK(said_of_arrived(job).empty());
  }
  SECTION("for another rank") {
    arrive(job, 2, 1, 10);
    CHECK(said_of_arrived(job).empty());
  }
  SECTION("with the tag that the receive takes") {
    arrive(job, 0, 1, 11);
    CHECK(said_of_arrived(job).empty());
  }
  SECTION("of the MPI itself") {
    arrive(job, 0, 1, -17);
    CHECK(said_of_arrived(job).empty());
  }
  SECTION("on another communicator") {
    job.add_communicator(2, "copy", {0, 1, 2});
    arrive(job, 0, 1, 11, 1);
    CHECK(said_of_arrived(job).empty());
  }
  SECTION("without a number in the job") {
    arrive(job, 0, 1, 10);
    job.communicator(0, 0).of(queue_class::unexpected).operations[0].desired.global.reset();
    CHECK(said_of_arrived(job) == "; a message from rank 1 of the communicator with tag 10 has arrived");
  }
}

TEST_CASE("a wait for a message of any rank names the first that has arrived with another tag") {
  made_job job(3);
  job.receive(0, any_source, 11).in(0, "MPI_Wait");
  SECTION("one") {
    arrive(job, 0, 2, 10);
    CHECK(said_of_arrived(job) == "; a message from rank 2 with tag 10 has arrived");
  }
  SECTION("several") {
    arrive(job, 0, 2, 10);
    arrive(job, 0, 1, 10);
    CHECK(said_of_arrived(job) == "; 2 messages have arrived, the first from rank 2 with tag 10");
  }
}

TEST_CASE("a wait for a send says nothing of messages that have arrived") {
  made_job job(2);
  job.send(0, 1, 11).in(0, "MPI_Ssend");
  arrive(job, 0, 1, 10);
  CHECK(said_of_arrived(job).empty());
}

TEST_CASE("a rank in MPI_Probe has the messages in its reason that have arrived with other tags") {
  made_job job(3);
  const auto probe = [&](std::int64_t source, std::string name, std::vector<mpi_argument> more) {
    std::vector<mpi_argument> arguments = {number(mpi_role::source, source, std::move(name)), on_world()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    job.ranks()[0].doing = call("MPI_Probe", std::move(arguments));
  };
  arrive(job, 0, 1, 10);
  probe(1, "", {number(mpi_role::tag, 11)});
  CHECK(said_of_arrived(job) == "; a message from rank 1 with tag 10 has arrived");
  probe(-1, "MPI_ANY_SOURCE", {number(mpi_role::tag, 11)});
  CHECK(said_of_arrived(job) == "; a message from rank 1 with tag 10 has arrived");
  probe(2, "", {number(mpi_role::tag, 11)});
  CHECK(said_of_arrived(job).empty());
  probe(1, "", {number(mpi_role::tag, -1, "MPI_ANY_TAG")});
  CHECK(said_of_arrived(job).empty());
  probe(1, "", {});
  CHECK(said_of_arrived(job).empty());
}

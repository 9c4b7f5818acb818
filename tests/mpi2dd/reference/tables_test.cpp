// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The contents of one process: the info block and the entries.
#include "catch.hpp"
#include "reference_job.hpp"

using namespace mpiacq::test;

TEST_CASE("a starter that is also directory and metadirectory has its ranks in its own table, and two null tables") {
  reference_job job{{"mpi2dd_starter", "--ranks", "3", "--world", "w0", "--hold"}};
  const seen_process s = job.ready().look(job.pid());
  CHECK(s.begin == std::string("MPI2\x7f\1\1", 7));
  CHECK(s.state == started);
  CHECK(s.mpi_flags == (is_starter | is_metadir | is_dir));
  CHECK(s.debugger_flags == 0);
  CHECK_FALSE(s.has_directories);
  CHECK_FALSE(s.has_metadirectories);
  CHECK(s.meta_pid == 0);
  REQUIRE(s.processes.size() == 3);
  for (int i = 0; i < 3; ++i) {
    const listed_process& p = s.processes[static_cast<std::size_t>(i)];
    CHECK(p.pid == job.rank("w0", i));
    CHECK(p.rank == i);
    CHECK(p.world == "w0");
    CHECK(p.spawn.empty());
    CHECK(p.executable == MPIACQ_MPI2DD "/mpi2dd_rank");
    char host[256] = {};
    CHECK(::gethostname(host, sizeof host) == 0);
    CHECK(p.host == host);
  }
  CHECK(job.end() == 0);
}

TEST_CASE("a rank has no tables, and names its metadirectory") {
  reference_job job{{"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--host", "elsewhere", "--hold"}};
  job.ready();
  const seen_process r = job.look(job.rank("w0", 1));
  CHECK(r.begin == std::string("MPI2\x7f\1\1", 7));
  CHECK(r.state == 0);
  CHECK(r.mpi_flags == 0);
  CHECK_FALSE(r.has_proctable);
  CHECK_FALSE(r.has_directories);
  CHECK_FALSE(r.has_metadirectories);
  CHECK(r.meta_pid == job.pid());
  CHECK(r.meta_host == "elsewhere");
  CHECK(r.meta_executable == MPIACQ_MPI2DD "/mpi2dd_starter");
  CHECK(job.look(job.pid()).processes.at(1).host == "elsewhere");
}

TEST_CASE("options that are passed on are in every process, and requests change one process") {
  reference_job job{{"mpi2dd_starter", "--ranks", "1", "--world", "w0", "--partial-attach-ok", "--pass", "flags,0x10",
                     "--pass", "dll,/lib32/q.so,/lib64/q.so", "--do", "process,-,-,-,0,7", "--do", "directory,far,-,12",
                     "--hold"}};
  const seen_process s = job.ready().look(job.pid());
  const seen_process r = job.look(job.rank("w0", 0));
  CHECK(s.mpi_flags == (is_starter | is_metadir | is_dir | partial_ok | 0x10));
  CHECK(r.mpi_flags == (partial_ok | 0x10));
  CHECK(r.dll_32 == "/lib32/q.so");
  CHECK(r.dll_64 == "/lib64/q.so");
  REQUIRE(s.processes.size() == 2);
  CHECK(s.processes[0].rank == 7);
  CHECK(s.processes[0].host.empty());
  CHECK(s.processes[0].world.empty());
  REQUIRE(s.directories.size() == 1);
  CHECK(s.directories[0].host == "far");
  CHECK(s.directories[0].executable.empty());
  CHECK(s.directories[0].pid == 12);
}

TEST_CASE("ranks and their entries come and go, and a published array does not change") {
  reference_job job{{"mpi2dd_directory", "--role", "both", "--do", "process,a,-,w,11,0\nprocess,b,-,w,12,1", "--hold"}};
  job.ready();
  const remote memory{job.pid()};
  const auto table = memory.get<std::uint64_t>(job.info_address(job.pid()) + 56);
  const std::string before = memory.bytes(table, 80);
  job.tell(job.pid(), "drop_process,-,11\nprocess,c,-,w,13,2\nprocess,c,-,w2,14,0,w,1,3\nmetadirectory,m,x,99");
  const seen_process s = job.look(job.pid());
  REQUIRE(s.processes.size() == 3);
  CHECK(s.processes[0].pid == 12);
  CHECK(s.processes[1].host == "c");
  CHECK(s.processes[2].spawn == "w 1 3");
  REQUIRE(s.metadirectories.size() == 1);
  CHECK(s.metadirectories[0].executable == "x");
  CHECK(memory.bytes(table, 80) == before);
  CHECK(memory.get<std::uint64_t>(job.info_address(job.pid()) + 56) != table);
  job.tell(job.pid(), "drop_metadirectory,-,99");
  CHECK_FALSE(job.look(job.pid()).has_metadirectories);
  job.tell(job.pid(), "claim,process,-1");
  CHECK(memory.get<std::int32_t>(job.info_address(job.pid()) + 80) == -1);
}

TEST_CASE("a table of many ranks is divided among the directories without a loss") {
  reference_job job{{"mpi2dd_starter", "--ranks", "300", "--directories", "2", "--world", "w0", "--hold"}};
  auto said = job.ready().all_said();
  for (int i = 0; i < 2; ++i) {
    const seen_process d = job.look(job.said_pid("directory." + std::to_string(i) + ".pid"));
    REQUIRE(d.processes.size() == 150);
    for (std::size_t j = 0; j < 150; ++j) {
      const int rank = static_cast<int>(2 * j) + i;
      CHECK((d.processes[j].rank == rank &&
             std::to_string(d.processes[j].pid) == said["rank.w0." + std::to_string(rank) + ".pid"]));
    }
  }
}

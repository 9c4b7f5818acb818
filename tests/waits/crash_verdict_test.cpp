// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Which rank has made a job fail, from made-up ends and stacks.
#include <csignal>

#include "catch.hpp"
#include "mpiacq/queues/verdict.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

struct made_frame {
  const char* function;
  const char* file = "";
  std::uint32_t line = 0;
  const char* module = "/home/user/app";
};
constexpr const char* c_library = "/usr/lib/x86_64-linux-gnu/libc.so.6";
constexpr const char* mpi_library = "/usr/lib/x86_64-linux-gnu/libmpi.so.40";

/// Adds the stack of one rank, with the innermost frame first.
void add(call_tree& tree, std::uint32_t rank, const std::vector<made_frame>& frames) {
  thread_stack stack;
  for (const made_frame& one : frames) {
    stack.frames.push_back(
        {{}, std::make_shared<code_place>(code_place{one.function, one.file, one.line, one.module, {}}), false});
  }
  tree.add(entry_index{rank}, stack);
}

constexpr process_id pid_of(std::uint32_t rank) {
  return process_id{1000 + rank};
}

rank_end by_signal(std::uint32_t rank, int signal, int code = 0, process_id sender = {}) {
  rank_end end;
  end.entry = entry_index{rank};
  end.pid = pid_of(rank);
  end.status = {true, signal, false};
  end.signal_code = code;
  end.sender = sender;
  return end;
}

rank_end by_exit(std::uint32_t rank, int status, mpi_phase phase) {
  rank_end end;
  end.entry = entry_index{rank};
  end.pid = pid_of(rank);
  end.status = {false, status, false};
  end.phase = phase;
  return end;
}

void add_waiting(call_tree& tree, std::uint32_t rank) {
  add(tree, rank, {{"poll", "", 0, c_library}, {"MPI_Barrier", "", 0, mpi_library}, {"main", "/src/app.c", 30}});
}

}  // namespace

TEST_CASE("a crash verdict names the rank, the signal, the address and the innermost line of the program") {
  call_tree tree;
  add_waiting(tree, 0);
  add(tree, 1,
      {{"raise", "raise.c", 4, c_library}, {"solve", "/src/solver.c", 88}, {"main", "/src/app.c", 31}, {"_start"}});
  rank_end end = by_signal(1, SIGSEGV, SEGV_MAPERR);
  end.fault = target_address{0x10};
  const verdict given = find_crash_verdict({&end, 1}, tree);
  CHECK(given.basis == verdict_basis::crash);
  CHECK(name(given.basis) == "crash");
  CHECK(given.sentence == "rank 1 received SIGSEGV for address 0x10 at solver.c:88");
  CHECK(given.ranks.text() == "1");
}

TEST_CASE("a crash verdict names the cause of an abort as the stack shows it") {
  const rank_end end = by_signal(0, SIGABRT, SI_TKILL, pid_of(0));
  const auto sentence = [&](std::vector<made_frame> inner) {
    call_tree tree;
    inner.push_back({"main", "/src/app.cpp", 5});
    add(tree, 0, inner);
    return find_crash_verdict({&end, 1}, tree).sentence;
  };
  CHECK(sentence({{"abort", "", 0, c_library}, {"__assert_fail", "", 0, c_library}}) ==
        "rank 0 received SIGABRT: an assertion has failed at app.cpp:5");
  CHECK(sentence({{"abort", "", 0, c_library}, {"std::terminate()", "", 0, c_library}}) ==
        "rank 0 received SIGABRT: a C++ exception was not caught at app.cpp:5");
  CHECK(sentence({{"abort", "", 0, c_library}}) == "rank 0 received SIGABRT: it called abort at app.cpp:5");
  CHECK(sentence({}) == "rank 0 received SIGABRT from itself at app.cpp:5");
}

TEST_CASE("a crash verdict blames the rank in MPI_Abort, and not those that the launcher has ended") {
  call_tree tree;
  std::vector<rank_end> failed;
  for (const std::uint32_t rank : {0U, 2U}) {
    add_waiting(tree, rank);
    failed.push_back(by_signal(rank, SIGTERM, SI_USER, process_id{7}));
    failed.back().sender_name = "mpirun";
  }
  SECTION("the rank is held in the call") {
    add(tree, 1, {{"usleep", "", 0, c_library}, {"PMPI_Abort", "", 0, mpi_library}, {"main", "/src/app.c", 12}});
  }
  SECTION("the rank exits inside of a function that the call has jumped to") {
    add(tree, 1, {{"_exit", "", 0, c_library}, {"ompi_mpi_abort", "", 0, mpi_library}, {"main", "/src/app.c", 12}});
    failed.push_back(by_exit(1, 7, mpi_phase::running));
  }
  const verdict given = find_crash_verdict(failed, tree);
  CHECK(given.sentence == "rank 1 called MPI_Abort at app.c:12");
  CHECK(given.ranks.text() == "1");
}

TEST_CASE("a crash verdict says who has sent a signal if no rank has failed by itself") {
  call_tree tree;
  std::vector<rank_end> failed;
  for (const std::uint32_t rank : {0U, 1U}) {
    add_waiting(tree, rank);
    failed.push_back(by_signal(rank, SIGTERM, SI_USER, process_id{7}));
    failed.back().sender_name = "slurmstepd";
  }
  CHECK(find_crash_verdict(failed, tree).sentence ==
        "ranks 0-1 received SIGTERM from slurmstepd (process 7) at app.c:30");
  failed.push_back(by_signal(2, SIGKILL));
  CHECK(find_crash_verdict(failed, tree).sentence == "rank 2 received SIGKILL");
  failed.back().out_of_memory = true;
  CHECK(find_crash_verdict(failed, tree).sentence ==
        "rank 2 received SIGKILL, and meanwhile the kernel has killed a process of its node to free memory");
}

TEST_CASE("a crash verdict names exits by what MPI was at") {
  call_tree tree;
  add(tree, 3, {{"_exit", "", 0, c_library}, {"exit", "", 0, c_library}, {"stop_here", "/src/app.c", 40}});
  const auto sentence = [&](const rank_end& end) { return find_crash_verdict({&end, 1}, tree).sentence; };
  CHECK(sentence(by_exit(3, 0, mpi_phase::running)) == "rank 3 exited with status 0 before MPI_Finalize at app.c:40");
  CHECK(sentence(by_exit(3, 2, mpi_phase::not_started)) == "rank 3 exited with status 2 before MPI_Init at app.c:40");
  CHECK(sentence(by_exit(3, 2, mpi_phase::unknown)) == "rank 3 exited with status 2 at app.c:40");
}

TEST_CASE("a crash verdict has one group for ranks that have failed in one way at one place, and few groups") {
  call_tree tree;
  std::vector<rank_end> failed;
  for (std::uint32_t rank = 0; rank < 10; ++rank) {
    add(tree, rank, {{"solve", "/src/solver.c", rank < 5 ? 88 : 100 + rank}});
    failed.push_back(by_signal(rank, SIGFPE, FPE_INTDIV));
  }
  const verdict given = find_crash_verdict(failed, tree);
  CHECK(given.sentence ==
        "ranks 0-4 received SIGFPE for address 0x0 at solver.c:88; rank 5 received SIGFPE for address 0x0 at "
        "solver.c:105; rank 6 received SIGFPE for address 0x0 at solver.c:106; and 3 more failures");
  CHECK(given.ranks.text() == "0-9");
}

TEST_CASE("a crash verdict needs no stack, and nothing is no crash") {
  const rank_end end = by_signal(0, SIGBUS, BUS_ADRALN);
  CHECK(find_crash_verdict({&end, 1}, call_tree()).sentence == "rank 0 received SIGBUS for address 0x0");
  CHECK(find_crash_verdict({}, call_tree()).basis == verdict_basis::nothing);
}

TEST_CASE("a rank has failed by a signal of its own, and before MPI_Finalize by any other end that is not 0") {
  for (const auto phase : {mpi_phase::unknown, mpi_phase::not_started, mpi_phase::running, mpi_phase::finalized}) {
    rank_end own = by_signal(0, SIGSEGV, SEGV_MAPERR), other = by_signal(0, SIGTERM, SI_USER, process_id{7});
    own.phase = other.phase = phase;
    CHECK(is_failure(own));
    CHECK(is_failure(other) == (phase != mpi_phase::finalized));
    CHECK(is_failure(by_exit(0, 3, phase)) == (phase != mpi_phase::finalized));
    CHECK(is_failure(by_exit(0, 0, phase)) == (phase == mpi_phase::running));
  }
}

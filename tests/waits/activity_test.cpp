// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The activity of a rank, from the names in its stack.
#include "catch.hpp"
#include "mpiacq/queues/queue_waits.hpp"

using namespace mpiacq;

namespace {

/// Outermost first, as one tells it: "main", "solve", "MPI_Recv", "poll".
thread_stack stack_of(const std::vector<std::string>& calls, const std::string& module_path = "/bin/app") {
  thread_stack made;
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    auto place = std::make_shared<code_place>();
    place->function = *call;
    place->module_path = call->starts_with("MPI_") || call->starts_with("PMPI_") ? "/lib/libmpi.so" : module_path;
    made.frames.push_back({{}, place, false});
  }
  return made;
}

rank_activity doing(const std::vector<std::string>& calls) {
  const std::vector<thread_stack> threads = {stack_of(calls)};
  return activity_of(threads, "/bin/app");
}

}  // namespace

TEST_CASE("an MPI call is known in every language and through every layer") {
  for (const char* name : {"MPI_Recv", "PMPI_Recv", "MPI_Recv@plt", "MPI_Recv(void*, int)", "mpi_recv_", "mpi_recv__",
                           "mpi_recv", "pmpi_recv_", "MPI_RECV", "mpi_recv_f08_", "pmpi_recv_f", "mpi_recv_f08ts_"}) {
    INFO(name);
    CHECK(activity_in(name).function == "MPI_Recv");
    CHECK(activity_in(name).kind == mpi_call_kind::receive);
  }
  for (const char* name :
       {"", "MPI", "MPI_", "mpi_setup", "main", "solver::MPI_Recv", "recv", "MPIR_Wait", "mpi_", "p"}) {
    INFO(name);
    CHECK(activity_in(name).kind == mpi_call_kind::none);
    CHECK(activity_in(name).function.empty());
  }
  CHECK(activity_in("MPI_Comm_rank").kind == mpi_call_kind::other);
  CHECK(activity_in("MPI_File_write_all").kind == mpi_call_kind::file);
  CHECK(activity_in("MPI_Send_c").function == "MPI_Send_c");
  CHECK(activity_in("MPI_Send_c").kind == mpi_call_kind::send);
  CHECK(activity_in("MPI_Waitsome").kind == mpi_call_kind::wait_any);
  // MPI_Finalize has left the stack when this runs.
  CHECK(activity_in("ompi_mpi_finalize").function == "MPI_Finalize");
  CHECK(activity_in("mca_pml_base_bsend_detach").function == "MPI_Buffer_detach");
  CHECK(activity_in("MPI_Testall").kind == mpi_call_kind::test);
  CHECK(activity_in("mpi_allreduce_").kind == mpi_call_kind::synchronising);
  CHECK(activity_in("MPI_Bcast").kind == mpi_call_kind::collective);
}

TEST_CASE("the call of a rank is its outermost MPI call") {
  CHECK(doing({"main", "mpi_exchange", "MPI_Barrier", "PMPI_Sendrecv", "poll"}).function == "MPI_Barrier");
  CHECK(doing({"main", "solve"}).kind == mpi_call_kind::none);
  CHECK(doing({}).kind == mpi_call_kind::unknown);
  CHECK(activity_of({}, "").kind == mpi_call_kind::unknown);
  auto cut = stack_of({"poll"});
  cut.end = stack_end::no_unwind_info;
  CHECK(activity_of(std::vector{cut}, "").kind == mpi_call_kind::unknown);
  cut = stack_of({"MPI_Wait", "poll"});
  cut.end = stack_end::no_unwind_info;
  CHECK(activity_of(std::vector{cut}, "").kind == mpi_call_kind::wait_one);
}

TEST_CASE("the call of a rank that stands in an MPI library is not known where no frame names it") {
  auto stack = stack_of({"main", "solve", "progress", "poll"});
  CHECK(activity_of(std::vector{stack}, "").kind == mpi_call_kind::none);
  auto progress = std::make_shared<code_place>(*stack.frames.at(1).place);
  progress->module_path = "/usr/lib/libmpich.so.12";
  stack.frames.at(1).place = progress;
  CHECK(activity_of(std::vector{stack}, "").kind == mpi_call_kind::unknown);
}

TEST_CASE("the place of a call is the frame that has called the outermost MPI function") {
  auto stack = stack_of({"main", "solve", "MPI_Recv", "PMPI_Recv", "poll"});
  // Innermost first: frame 3 is solve.
  auto solve = std::make_shared<code_place>(*stack.frames.at(3).place);
  solve->file = "/home/user/solver.c";
  solve->line = 88;
  stack.frames.at(3).place = solve;
  const rank_activity seen = activity_of(std::vector{stack}, "");
  CHECK(seen.at == call_site{"solve", "/home/user/solver.c", 88});
  CHECK(site_text(seen.at) == " at solver.c:88");
  CHECK(doing({"main", "solve"}).at == call_site{});
  // The outermost frame has no caller.
  CHECK_FALSE(doing({"MPI_Recv", "poll"}).at.is_known());
}

TEST_CASE("a place without a line is told by its function, and an unknown place not at all") {
  CHECK(site_text(doing({"main", "solve", "MPI_Recv"}).at) == ", called by solve");
  CHECK(site_text({"solve", "solver.c", 0}) == ", called by solve");
  CHECK(site_text({"", "solver.f90", 3}) == " at solver.f90:3");
  CHECK(site_text({}).empty());
}

TEST_CASE("another thread counts if it is the program's own") {
  const auto first = stack_of({"main", "MPI_Recv"});
  const auto library = stack_of({"clone", "progress_engine", "epoll_wait"}, "/lib/libopen-pal.so");
  const auto own = stack_of({"clone", "worker"}, "/bin/app");
  const auto calls = stack_of({"clone", "plugin", "PMPI_Send"}, "/lib/libplugin.so");
  CHECK_FALSE(activity_of(std::vector{first, library}, "/bin/app").other_threads);
  CHECK(activity_of(std::vector{first, library, own}, "/bin/app").other_threads);
  CHECK(activity_of(std::vector{first, calls}, "/bin/app").other_threads);
  CHECK_FALSE(activity_of(std::vector{own}, "/bin/app").other_threads);
}

TEST_CASE("a rank without an MPI call may be in a call of another communication library") {
  const rank_activity sums = doing({"main", "train", "ncclAllReduce", "ncclEnqueueCheck", "poll"});
  CHECK(sums.function == "ncclAllReduce");
  CHECK(sums.kind == mpi_call_kind::other);
  CHECK(sums.at.function == "train");
  const char* wait = "c10d::ProcessGroupGloo::AsyncWork::wait(std::chrono::duration<long, std::ratio<1l, 1000l> >)";
  CHECK(doing({"_start", "cfunction_call", wait, "pthread_cond_wait"}).function ==
        "c10d::ProcessGroupGloo::AsyncWork::wait");
  // What the library does of its own accord is no call of the program.
  for (const char* own : {"ncclProxyService", "ncclGetVersion", "my_ncclAllReduce", "c10::Error::what"}) {
    INFO(own);
    CHECK(doing({"main", own}).kind == mpi_call_kind::none);
  }
  // An MPI that such a library uses is what the rank waits in.
  CHECK(doing({"main", "c10d::ProcessGroupMPI::barrier", "MPI_Barrier"}).function == "MPI_Barrier");
  const thread_stack first = stack_of({"main", "solve"});
  const thread_stack helper = stack_of({"start_thread", "gloo::transport::tcp::Loop::run()"}, "/lib/libtorch.so");
  CHECK_FALSE(activity_of(std::vector{first, helper}, "/bin/app").other_threads);
}

TEST_CASE("the place of a rank in no call is the innermost one with a source line") {
  thread_stack stack = stack_of({"main", "solve", "__sqrt"});
  auto solve = std::make_shared<code_place>();
  solve->function = "solve";
  solve->file = "/src/solver.c";
  solve->line = 88;
  stack.frames[1].place = solve;
  const rank_activity seen = activity_of(std::vector{stack}, "");
  CHECK(seen.kind == mpi_call_kind::none);
  CHECK(site_text(seen.at) == " at solver.c:88");
  CHECK_FALSE(doing({"main", "solve"}).at.is_known());
}

TEST_CASE("the place of a rank in no call is in the program, although the system's libraries have source lines") {
  thread_stack stack = stack_of({"main", "solve", "nanosleep"});
  const auto give_line = [&](std::size_t frame, const char* module, const char* file, std::uint32_t line) {
    auto place = std::make_shared<code_place>(*stack.frames.at(frame).place);
    place->module_path = module;
    place->file = file;
    place->line = line;
    stack.frames.at(frame).place = place;
  };
  give_line(0, "/lib/x86_64-linux-gnu/libc.so.6", "clock_nanosleep.c", 48);
  CHECK(activity_of(std::vector{stack}, "/bin/app").at.line == 48);
  give_line(1, "/bin/app", "/src/solver.c", 88);
  give_line(2, "/bin/app", "/src/main.c", 12);
  CHECK(activity_of(std::vector{stack}, "/bin/app").at == call_site{"solve", "/src/solver.c", 88});
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A process as a rank is one: an MPI library and what that drags in is mapped, and a stack of some depth waits, with an
// MPI installed in MPI_Recv. The program has an MPI_Recv of its own, so that no MPI has to run.
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifdef BENCH_WITH_MPI
#include <mpi.h>
#endif

static volatile int depth_reached, waits = 1;

__attribute__((noinline)) static void wait_for_ever(void) {
  if (write(STDOUT_FILENO, "r", 1) != 1) exit(99);
  while (waits) pause();
}

#ifdef BENCH_WITH_MPI
static int values[8];

__attribute__((noinline)) int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag,
                                       MPI_Comm communicator, MPI_Status* status) {
  (void)buffer, (void)count, (void)type, (void)source, (void)tag, (void)communicator, (void)status;
  wait_for_ever();
  return MPI_SUCCESS;
}

static void receive(int depth) {
  MPI_Recv(values, 8, MPI_INT, depth + 3, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
#else
static void receive(int depth) {
  (void)depth;
  wait_for_ever();
}
#endif

__attribute__((noinline)) static int solve(int depth) {
  if (depth == 0) receive(depth);
  const int below = solve(depth - 1);
  depth_reached = depth;
  return below + 1;
}

int main(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#ifdef BENCH_WITH_MPI
  int version = 0, subversion = 0;
  MPI_Get_version(&version, &subversion);
#endif
  return solve(20);
}

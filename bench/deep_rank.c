// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A process as a rank is one: an MPI library and what that drags in is mapped, and a stack of some depth waits.
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifdef BENCH_WITH_MPI
#include <mpi.h>
#endif

static volatile int depth_reached;

__attribute__((noinline)) static void wait_for_ever(void) {
  if (write(STDOUT_FILENO, "r", 1) != 1) exit(99);
  for (;;) pause();
}

__attribute__((noinline)) static int solve(int depth) {
  if (depth == 0) wait_for_ever();
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

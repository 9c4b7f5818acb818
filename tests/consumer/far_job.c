// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A job of one rank, which its table has on a host called "elsewhere". Says the starter's pid when that
// is so, and ends by a signal, or after a minute.
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

typedef struct {
  char* host_name;
  char* executable_name;
  int pid;
} MPIR_PROCDESC;

MPIR_PROCDESC* MPIR_proctable;
int MPIR_proctable_size;
volatile int MPIR_being_debugged;
volatile int MPIR_debug_state;

void MPIR_Breakpoint(void) {}

static void stands_here(void) {
  for (;;) pause();
}

int main(void) {
  alarm(600);
  static char program[4096];
  static MPIR_PROCDESC rank = {"elsewhere", program, 0};
  if (readlink("/proc/self/exe", program, sizeof program - 1) < 0) return 1;
  rank.pid = fork();
  if (rank.pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    stands_here();
  }
  MPIR_proctable = &rank;
  MPIR_proctable_size = 1;
  MPIR_debug_state = 1;
  MPIR_Breakpoint();
  printf("%d\n", getpid());
  fflush(stdout);
  for (;;) pause();
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

void mca_pml_cm_add_procs(void);

// The program's own type has the same name as a type of the MPI library.
struct opal_list_t {
  char the_programs_own[99];
} mine;

int main(void) {
  mca_pml_cm_add_procs();
  puts("ready");
  fflush(stdout);
  return getchar() == EOF ? 0 : 1;
}

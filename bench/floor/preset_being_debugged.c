// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Preloaded into a starter: it takes the way that it takes under a tool, and no tool is there. That is the floor for a
// launch: what a starter's MPIR mode costs by itself no tool can save.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

__attribute__((constructor)) static void preset(void) {
  // Relocations are done before the first constructor, and nothing of the starter has run. Its children are not to be
  // preloaded: only the starter's own variable is meant.
  volatile int* being_debugged = dlsym(RTLD_DEFAULT, "MPIR_being_debugged");
  unsetenv("LD_PRELOAD");
  if (being_debugged != NULL) *being_debugged = 1;
}

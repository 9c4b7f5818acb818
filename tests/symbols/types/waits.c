// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A program with a type of its own that its library has by the same name, and with one more.
#include <stdio.h>

struct tagged {
  char only_the_programs[99];
};
struct only_in_program {
  char bytes[17];
};
extern char size_of__tagged[];
struct tagged mine;
struct only_in_program also_mine;

int main(void) {
  size_of__tagged[0] = 1;
  puts("ready");
  fflush(stdout);
  return getchar() == EOF ? 0 : 1;
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

struct elsewhere {
  char before[3];
  long field;
};
struct elsewhere the_elsewhere;
char size_of__elsewhere_t[sizeof(struct elsewhere)];
char offset_of__elsewhere_t__field[offsetof(struct elsewhere, field) + 1];
char offset_of__elsewhere_t__before[offsetof(struct elsewhere, before) + 1];

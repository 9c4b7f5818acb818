// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Types that are asked for by name. What the compiler makes of them stands in the symbol table too, in the sizes of
// arrays: so that any machine's object says it, without being run, and without debug information.
#include <stddef.h>

#define SIZE(label, type) char size_of__##label[sizeof(type)];
#define FIELD(label, type, field) char offset_of__##label##__##field[offsetof(type, field) + 1];

struct tagged {
  char c;
  short s;
  int i;
  long l;
  long long ll;
  void* p;
  double d;
  char text[13];
};
struct tagged a_tagged;
SIZE(tagged, struct tagged)
FIELD(tagged, struct tagged, c)
FIELD(tagged, struct tagged, s)
FIELD(tagged, struct tagged, i)
FIELD(tagged, struct tagged, l)
FIELD(tagged, struct tagged, ll)
FIELD(tagged, struct tagged, p)
FIELD(tagged, struct tagged, d)
FIELD(tagged, struct tagged, text)

typedef struct {
  int first;
  union {
    int as_int;
    char as_bytes[9];
    struct {
      short deep;
      char deeper;
    };
  };
  struct {
    long within;
  } named;
  unsigned bits : 3;
  unsigned more_bits : 29;
  char last;
} untagged_t;
untagged_t an_untagged;
SIZE(untagged_t, untagged_t)
FIELD(untagged_t, untagged_t, first)
FIELD(untagged_t, untagged_t, as_int)
FIELD(untagged_t, untagged_t, as_bytes)
FIELD(untagged_t, untagged_t, deep)
FIELD(untagged_t, untagged_t, deeper)
FIELD(untagged_t, untagged_t, named)
FIELD(untagged_t, untagged_t, last)

// One name, two types, as C allows: the typedef goes before the tag.
struct twice {
  char bytes[5];
};
typedef struct {
  char bytes[7];
} twice;
struct twice a_struct_twice;
twice a_twice;
SIZE(twice, twice)
SIZE(struct_twice, struct twice)

union choice {
  char bytes[11];
  int number;
};
union choice a_choice;
SIZE(choice, union choice)
FIELD(choice, union choice, bytes)
FIELD(choice, union choice, number)

enum colour { red, green };
enum colour a_colour;
SIZE(colour, enum colour)

typedef const volatile union choice chosen_t;
chosen_t* a_chosen;
SIZE(chosen_t, chosen_t)
typedef unsigned long number_t;
number_t a_number;
SIZE(number_t, number_t)
typedef void* handle_t;
handle_t a_handle;
SIZE(handle_t, handle_t)

typedef void nothing_t;
nothing_t* a_nothing;
struct never_defined;
typedef struct never_defined never_defined_t;
never_defined_t* a_never_defined;

// Declared here, defined in more_types.c.
struct elsewhere;
typedef struct elsewhere elsewhere_t;
elsewhere_t* an_elsewhere;

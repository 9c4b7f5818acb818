// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A seed for fuzz_types: a type of each kind.
struct tagged {
  int number;
  union {
    char text[5];
    struct {
      short deep;
    };
  };
  unsigned bits : 3;
  struct tagged* next;
};
typedef struct tagged tagged_t;
typedef const tagged_t* pointer_t;
enum colour { red, green };
struct declared;

tagged_t a_tagged;
pointer_t a_pointer;
enum colour a_colour;
struct declared* a_declared;

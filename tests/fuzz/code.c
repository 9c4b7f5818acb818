// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The seeds of fuzz_code_names are made of this: an inlined call, a static function, a call through a stub.
extern int outside(int);

static volatile int sink;

static inline __attribute__((always_inline)) int inner(int x) {
  sink += x;
  return outside(x);
}

static __attribute__((noinline)) int kept(int x) {
  for (int i = 0; i < x; ++i) sink += inner(i);
  return sink;
}

int entry(int x) {
  return kept(x) + inner(x) + 1;
}

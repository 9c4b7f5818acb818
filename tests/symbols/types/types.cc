// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <cstddef>

namespace outer {
struct base {
  int of_base;
};
class derived : public base {
 public:
  struct inner {
    char bytes[21];
  };
  char between;
  long of_derived;
  inner an_inner;
};
derived a_derived;
}  // namespace outer

extern "C" {
char size_of__derived[sizeof(outer::derived)];
char size_of__inner[sizeof(outer::derived::inner)];
char offset_of__derived__of_base[offsetof(outer::derived, of_base) + 1];
char offset_of__derived__of_derived[offsetof(outer::derived, of_derived) + 1];
char offset_of__derived__an_inner[offsetof(outer::derived, an_inner) + 1];
}

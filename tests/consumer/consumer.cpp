// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A small program that uses the installed library: it looks for a starter's symbol, and for `main`, in itself. That
// takes the headers, and everything that the library itself is linked with.
#include <array>
#include <iostream>

#include <mpiacq/process_symbols.hpp>

int main() {
  auto program = mpiacq::file_symbols::open("/proc/self/exe");
  if (!program) {
    std::cout << program.error().message << '\n';
    return 1;
  }
  const std::array<std::string_view, 2> names = {"main", "MPIR_proctable"};
  const auto found = (*program)->find_symbols(names);
  if (!found) {
    std::cout << found.error().message << '\n';
    return 1;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::cout << names[i] << ((*found)[i] ? " is here\n" : " is not here\n");
  }
}

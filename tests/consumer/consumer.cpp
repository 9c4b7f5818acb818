// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A small program that uses the installed library: it looks for a starter's symbol, and for `main`, in itself, and runs
// a program under control. That takes the headers, everything that the library itself is linked with, and the tracing
// program that is installed with it.
#include <array>
#include <iostream>

#include <mpiacq/process_symbols.hpp>
#include <mpiacq/tracer.hpp>

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
  auto control = mpiacq::tracer::create();
  if (!control) {
    std::cout << control.error().message << '\n';
    return 1;
  }
  const auto id = (*control)->launch({{"true"}, {}, false});
  const auto event = (*control)->wait();
  const bool at_entry = id && event && std::holds_alternative<mpiacq::entry_reached>((*event)->what);
  std::cout << (at_entry ? "true is at its entry point\n" : "true is not at its entry point\n");
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A small program that uses the installed library: it looks for a starter's symbol, and for `main`, in itself, runs a
// program under control, and has a queue library loaded. That takes the headers, everything that the library itself is
// linked with, and the programs that are installed with it.
#include <array>
#include <iostream>

#include <mpiacq/process/process_symbols.hpp>
#include <mpiacq/process/tracer.hpp>
#include <mpiacq/queues/queue_host.hpp>

class no_types final : public mpiacq::type_source {
 public:
  mpiacq::result<std::optional<mpiacq::structure_layout>> type_named(std::string_view,
                                                                     mpiacq::source_language) override {
    return std::nullopt;
  }
};

/// This program is no queue library, and no loader takes it for one; but that is found out by the process that was to
/// load it, and by nobody else.
bool queue_library_process_runs(mpiacq::file_symbols& program) {
  mpiacq::queue_host_options options;
  options.trust_library = true;
  auto host = mpiacq::queue_host::create("/proc/self/exe", options);
  if (!host) return false;
  no_types types;
  mpiacq::target process{program.initial_memory(), nullptr, program.abi(), program};
  const auto report = (*host)->read({process, types, 0, "consumer"});
  return !report && report.error().message.starts_with("loading /proc/self/exe");
}

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
  std::cout << (queue_library_process_runs(**program) ? "a queue library's process runs\n"
                                                      : "a queue library's process does not run\n");
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Runs a starter under control and prints where each process of its job is:  example_processes mpirun -n 4 ./app
#include <cstdio>
#include <string>
#include <vector>

#include <mpiacq/job/job.hpp>

int main(int argc, char** argv) {
  auto job = mpiacq::job::launch(std::vector<std::string>(argv + 1, argv + argc));
  if (!job) return std::fprintf(stderr, "%s\n", job.error().message.c_str()), 125;

  for (;;) {
    auto event = (*job)->next();
    if (!event || !*event) return 125;
    if (std::holds_alternative<mpiacq::job_spawned>(**event)) {
      const auto table = (*job)->processes();
      for (const mpiacq::entry_index entry : table->entries()) {
        const std::string host(table->host_name(entry).value_or("?"));
        std::fprintf(stderr, "rank %u is pid %lld on %s\n", entry.value(),
                     static_cast<long long>(table->pid(entry).value()), host.c_str());
      }
      if (!(*job)->resume()) return 125;
    } else if (const auto* end = std::get_if<mpiacq::starter_ended>(&**event)) {
      return end->status.as_shell();
    }
  }
}

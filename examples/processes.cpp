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
      for (std::size_t rank = 0; rank < table->size(); ++rank) {
        const std::string host(table->host_name(rank).value_or("?"));
        std::fprintf(stderr, "rank %zu is pid %lld on %s\n", rank, static_cast<long long>(table->pid(rank).value()),
                     host.c_str());
      }
      if (!(*job)->resume()) return 125;
    } else if (const auto* end = std::get_if<mpiacq::starter_ended>(&**event)) {
      return end->status.as_shell();
    }
  }
}

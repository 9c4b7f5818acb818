// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "proc/time_to_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>

#include "proc/process_folder.hpp"
#include "proc/process_state.hpp"

namespace mpiacq {

namespace {

std::optional<std::uint64_t> processor_time_of(process_id pid) {
  constexpr std::size_t most = 256;
  const auto text = read_process_file(pid, "schedstat", most);
  return text ? parse_schedstat(*text) : std::nullopt;
}

/// A thread that waits for a disk (state D), or is stopped, cannot take up what has arrived.
bool sleeps_or_has_ended(process_id pid) {
  const auto stat = stat_of(pid);
  return !stat || stat->has_ended() || stat->state == 'S' || stat->state == 'I';
}

}  // namespace

std::vector<bool> have_run(std::span<const process_id> processes, clock::duration time, clock::duration most) {
  std::vector<bool> done(processes.size());
  std::vector<std::optional<std::uint64_t>> before;
  for (const process_id pid : processes) before.push_back(processor_time_of(pid));
  const auto enough = static_cast<std::uint64_t>(std::chrono::nanoseconds(time).count());
  const auto until = clock::now() + most;
  clock::duration pause = time;
  while (true) {
    for (std::size_t i = 0; i < processes.size(); ++i) {
      if (done[i]) continue;
      const auto now = processor_time_of(processes[i]);
      done[i] = !now || !before[i] || *now >= *before[i] + enough || sleeps_or_has_ended(processes[i]);
    }
    if (std::find(done.begin(), done.end(), false) == done.end() || clock::now() >= until) return done;
    std::this_thread::sleep_for(pause);  // the kernel has no event for a thread that has run
    constexpr std::chrono::milliseconds longest{20};
    pause = std::min<clock::duration>(2 * pause, longest);
  }
}

}  // namespace mpiacq

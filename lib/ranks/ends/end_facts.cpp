// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "ends/end_facts.hpp"

#include <array>
#include <charconv>
#include <csignal>
#include <string>
#include <string_view>

#include <fcntl.h>

#include "library_phase.hpp"
#include "proc/process_folder.hpp"
#include "proc/process_state.hpp"
#include "running_target.hpp"

namespace mpiacq {

std::uint64_t out_of_memory_kills() {
  constexpr std::size_t most = std::size_t{64} << 10U;
  const base::unique_fd file{::open("/proc/vmstat", O_RDONLY | O_CLOEXEC)};
  if (!file) return 0;
  const auto all = read_bounded(file, most);
  if (!all) return 0;
  constexpr std::string_view line = "\noom_kill ";
  const std::size_t at = all->find(line);
  if (at == std::string::npos) return 0;
  std::uint64_t count = 0;
  std::from_chars(all->data() + at + line.size(), all->data() + all->size(), count);
  return count;
}

bool seems_out_of_memory(const process_ending& how, std::uint64_t kills_before) {
  return how.status.signaled && how.status.value == SIGKILL && out_of_memory_kills() > kills_before;
}

mpi_phase phase_of(process_id pid, const debug_file_search& search) {
  if (const auto opened = running_target::open(pid, search)) {
    auto process = (*opened)->remembered();
    const mpi_phase phase = openmpi_phase(process);
    if (phase != mpi_phase::unknown) return phase;
  }
  return phase_by_descriptors(pid);
}

rank_end read_end(const rank_process& rank, const process_ending& how, const rank_stopper& grip,
                  const debug_file_search& search, std::uint64_t kills_before) {
  rank_end end;
  end.entry = rank.entry;
  end.pid = rank.pid;
  end.status = how.status;
  end.thread = how.thread;
  end.signal_code = how.signal_code;
  end.sender = how.sender;
  end.fault = how.fault;
  if (how.sender.value() > 0 && how.sender != rank.pid) {
    if (const auto sender = stat_of(how.sender)) end.sender_name = sender->name;
  }
  end.out_of_memory = seems_out_of_memory(how, kills_before);
  if (!end.is_own_signal()) end.phase = phase_of(rank.pid, search);
  const std::array<process_id, 1> one = {rank.pid};
  const auto threads = grip.registers(one, which_threads::all, register_sets::general);
  if (!threads.front()) return end;
  for (const thread_registers& registers : *threads.front()) {
    if (registers.thread == how.thread) end.registers = registers;
  }
  return end;
}

bool rank_end::is_own_signal() const {
  // si_code is positive only in signals of the kernel's own (sigaction(2)).
  return status.signaled && (signal_code > 0 || sender == pid);
}

bool is_failure(const rank_end& end) {
  if (end.is_own_signal() || end.phase == mpi_phase::running) return true;
  return (end.status.signaled || end.status.value != 0) && end.phase != mpi_phase::finalized;
}

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "library_phase.hpp"

#include <array>
#include <charconv>
#include <string>

#include <dirent.h>
#include <fmt/format.h>

#include "mpiacq/base/memory.hpp"
#include "proc/process_facts.hpp"

namespace mpiacq {

namespace {

// ompi_mpi_state_t: from 1 (MPI_Init has begun) to 4 (MPI_Finalize is at work), then 5 (MPI_Finalize has returned).
constexpr std::int64_t openmpi_init_begun = 1;
constexpr std::int64_t openmpi_finalized = 5;

/// More descriptors are not looked at.
constexpr int most_descriptors = 4096;

bool has_event_descriptor(const process_folder& process, const std::string& path) {
  DIR* const folder = ::opendir((path + "/fd").c_str());
  if (folder == nullptr) return false;
  bool found = false;
  int left = most_descriptors;
  while (const dirent* one = ::readdir(folder)) {
    if (--left < 0) break;
    const auto link = process.link(fmt::format("fd/{}", one->d_name).c_str());
    found = link && *link == "anon_inode:[eventpoll]";
    if (found) break;
  }
  ::closedir(folder);
  return found;
}

}  // namespace

std::string_view name(mpi_phase phase) {
  switch (phase) {
    case mpi_phase::not_started:
      return "not-started";
    case mpi_phase::running:
      return "running";
    case mpi_phase::finalized:
      return "finalized";
    case mpi_phase::unknown:
      break;
  }
  return "unknown";
}

mpi_phase openmpi_phase_of(std::int64_t state) {
  if (state == 0) return mpi_phase::not_started;
  if (state == openmpi_finalized) return mpi_phase::finalized;
  return state >= openmpi_init_begun && state < openmpi_finalized ? mpi_phase::running : mpi_phase::unknown;
}

mpi_phase openmpi_phase(target& process) {
  constexpr std::array<std::string_view, 1> names = {"ompi_mpi_state"};
  const auto found = process.symbols.look_up(names, {});
  if (!found || !found->front()) return mpi_phase::unknown;
  const auto state = read_signed(process.memory, process.abi, found->front()->address(), process.abi.int_size);
  return state ? openmpi_phase_of(*state) : mpi_phase::unknown;
}

mpi_phase phase_by_descriptors(process_id pid, const std::string& proc) {
  const auto facts = process_facts::open(pid, proc);
  if (!facts) return mpi_phase::unknown;
  const auto told = facts->variable("PMI_FD");
  if (!told) return mpi_phase::unknown;
  int number = -1;
  const auto parsed = std::from_chars(told->data(), told->data() + told->size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != told->data() + told->size() || number < 0) return mpi_phase::unknown;
  const auto process = process_folder::open(pid, proc);
  if (!process) return mpi_phase::unknown;
  const auto socket = process->link(fmt::format("fd/{}", number).c_str());
  if (!socket) return socket.error().code == error_code::not_found ? mpi_phase::finalized : mpi_phase::unknown;
  const bool in_use = has_event_descriptor(*process, fmt::format("{}/{}", proc, pid.value()));
  return in_use ? mpi_phase::running : mpi_phase::unknown;
}

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Writes core files of held ranks.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "descriptors/unique_fd.hpp"
#include "errors/no_exceptions.hpp"
#include "errors/try.hpp"
#include "mpiacq/process/core_writer.hpp"
#include "node_ranks_state.hpp"

namespace mpiacq {

namespace {

/// What the tracer tells of a process, as a core file shows it. The thread that has ended the process comes first.
core_process described(const rank_process& rank, std::vector<thread_registers> threads, const rank_end* end) {
  core_process process;
  process.process = rank.pid;
  if (end != nullptr) {
    process.signal = end->status.signaled ? end->status.value : 0;
    process.code = end->signal_code;
    process.fault = end->fault;
    std::stable_partition(threads.begin(), threads.end(),
                          [&](const thread_registers& one) { return one.thread == end->thread; });
  }
  for (thread_registers& one : threads)
    process.threads.push_back({one.thread, std::move(one.prstatus_registers), std::move(one.floating_point)});
  return process;
}

error cannot_write(const std::string& path, int why) {
  return error{error_code::system, fmt::format("writing the core file {}", path)}.with_errno(why).on(path);
}

/// The folder of core files on this node. Errors: system.
result<void> prepare_folder(const std::string& folder) {
  constexpr mode_t for_owner = 0700;
  if (::mkdir(folder.c_str(), for_owner) != 0 && errno != EEXIST) {
    return fail(
        error{error_code::system, fmt::format("making the folder {} for core files", folder)}.with_errno(errno));
  }
  return {};
}

}  // namespace

result<rank_core> node_ranks::state::write_core_of(std::size_t place, const rank_core_options& options) {
  const rank_process& rank = ranks[place];
  if (!here[place].held) return fail(error_code::invalid_argument, fmt::format("rank {} is not held", name_of(rank)));
  const std::array<process_id, 1> one = {rank.pid};
  auto threads = std::move(grip->registers(one, which_threads::all, register_sets::with_floating_point).front());
  if (!threads) return fail(std::move(threads).error());
  rank_core core;
  core.entry = rank.entry;
  core.path = fmt::format("{}/core.{}.{}", options.folder, rank.entry.value(), rank.pid.value());
  // O_EXCL: a file, or a link, that somebody has put there is neither followed nor overwritten.
  constexpr mode_t for_owner = 0600;
  const base::unique_fd file{
      ::open(core.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, for_owner)};
  if (!file) return fail(cannot_write(core.path, errno));
  const auto end = ends.known.find(rank.pid);
  core_write_options how;
  how.most_bytes = options.most_bytes;
  how.between_pieces = [this]() -> result<void> {
    grip->keep_held();
    return {};
  };
  process_memory memory(rank.pid);
  const core_process process = described(rank, std::move(*threads), end == ends.known.end() ? nullptr : &end->second);
  const auto written = write_core(process, memory, file.get(), how);
  if (!written) {
    (void)::unlink(core.path.c_str());
    return fail(error(written.error()));
  }
  core.bytes = written->length;
  core.unread = written->unreadable + written->left_out;
  return core;
}

rank_cores node_ranks::write_cores(const rank_core_options& options) {
  rank_cores all;
  const auto write_all = [&]() -> result<void> {
    const auto folder = prepare_folder(options.folder);
    for (std::size_t i = 0; i < state_->ranks.size(); ++i) {
      const entry_index entry = state_->ranks[i].entry;
      if (!options.ranks.contains(entry)) continue;
      auto core = folder ? state_->write_core_of(i, options) : result<rank_core>(fail(folder.error()));
      if (core) {
        all.written.push_back(std::move(*core));
      } else {
        all.refused.push_back({rank_set(entry), std::move(core).error()});
      }
    }
    return {};
  };
  (void)without_exceptions("writing core files", write_all);
  return all;
}

}  // namespace mpiacq

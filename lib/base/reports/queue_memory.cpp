// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/queues/queue_memory.hpp"

namespace mpiacq {

namespace {

/// A growing vector has a capacity of up to twice its size.
constexpr std::uint64_t growth = 2;

/// The memory of a string outside of its object.
std::uint64_t bytes_beside(const std::string& text) {
  static const std::size_t held_inside = std::string().capacity();
  return text.capacity() <= held_inside ? 0 : text.capacity() + 1;
}

template <class T>
std::uint64_t bytes_of_all(const std::vector<T>& all) {
  std::uint64_t bytes = 0;
  for (const T& one : all) bytes += bytes_held(one);
  return bytes;
}

}  // namespace

std::uint64_t bytes_held(const std::string& text) {
  return growth * sizeof(std::string) + bytes_beside(text);
}

std::uint64_t bytes_held(const error& problem) {
  return growth * sizeof problem + bytes_beside(problem.message) + bytes_beside(problem.path);
}

std::uint64_t bytes_held(const missing_type& missing) {
  return growth * sizeof missing + bytes_beside(missing.type) + bytes_beside(missing.field);
}

std::uint64_t bytes_held(const new_process& process) {
  return growth * sizeof process + bytes_beside(process.executable) + bytes_beside(process.host);
}

std::uint64_t bytes_held(const queue_operation& operation) {
  std::uint64_t bytes = growth * sizeof operation + operation.extra.capacity() * sizeof(std::string);
  for (const std::string& line : operation.extra) bytes += bytes_beside(line);
  return bytes;
}

std::uint64_t bytes_held(const group_members& members) {
  // The list's header, its counts, and its entry in a table of lists.
  constexpr std::uint64_t beside = 128;
  return beside + members.numbers().capacity() * sizeof(std::int64_t);
}

std::uint64_t bytes_held(const queue_communicator& communicator) {
  std::uint64_t bytes = growth * sizeof communicator + bytes_beside(communicator.name);
  for (const auto* group : {&communicator.group, &communicator.remote_group}) {
    if (*group) bytes += bytes_held(**group);
  }
  return bytes;
}

std::uint64_t bytes_held(const queue_report& report) {
  std::uint64_t bytes = sizeof report + bytes_beside(report.library_path) + bytes_beside(report.library_version) +
                        bytes_beside(report.spawn_breakpoint) + bytes_of_all(report.communicators) +
                        bytes_of_all(report.new_processes) + bytes_of_all(report.missing) + bytes_of_all(report.notes) +
                        bytes_of_all(report.problems);
  for (const queue_communicator& one : report.communicators) {
    for (const queue_listing& queue : one.queues) bytes += bytes_of_all(queue.operations);
  }
  return bytes;
}

}  // namespace mpiacq

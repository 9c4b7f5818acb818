// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/queue_memory.hpp"

#include <string>

namespace mpiacq {

namespace {

/// A vector that grows has room for up to twice as many elements as are in it.
constexpr std::uint64_t growth = 2;

/// What a string holds beside itself.
std::uint64_t bytes_of(const std::string& text) {
  static const std::size_t held_inside = std::string().capacity();
  return text.capacity() <= held_inside ? 0 : text.capacity() + 1;
}

}  // namespace

std::uint64_t bytes_held(const queue_operation& operation) {
  std::uint64_t bytes = growth * sizeof operation + operation.extra.capacity() * sizeof(std::string);
  for (const std::string& line : operation.extra) bytes += bytes_of(line);
  return bytes;
}

std::uint64_t bytes_held(const queue_communicator& communicator) {
  std::uint64_t bytes = growth * sizeof communicator + bytes_of(communicator.name);
  for (const auto* group : {&communicator.group, &communicator.remote_group}) {
    if (*group) bytes += (*group)->capacity() * sizeof(std::int64_t);
  }
  return bytes;
}

std::uint64_t bytes_held(const queue_report& report) {
  std::uint64_t bytes =
      growth * (report.new_processes.size() * sizeof(new_process) + report.missing.size() * sizeof(missing_type) +
                report.notes.size() * sizeof(std::string) + report.problems.size() * sizeof(error));
  for (const std::string& note : report.notes) bytes += bytes_of(note);
  for (const error& problem : report.problems) bytes += bytes_of(problem.message);
  for (const queue_communicator& one : report.communicators) {
    bytes += bytes_held(one);
    for (const queue_listing& queue : one.queues) {
      for (const queue_operation& operation : queue.operations) bytes += bytes_held(operation);
    }
  }
  return bytes;
}

}  // namespace mpiacq

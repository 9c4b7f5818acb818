// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Arguments of calls, made up, and reports of ranks whose queues are not known.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mpiacq/queues/queue_waits.hpp"

namespace mpiacq::test {

inline mpi_argument number(mpi_role role, std::int64_t value, std::string name = {}) {
  return {role, true, false, value, std::move(name)};
}
inline mpi_argument on_world() {
  return number(mpi_role::communicator, 0x44000000, "MPI_COMM_WORLD");
}
/// A communicator that the program has made.
inline mpi_argument on_another() {
  return number(mpi_role::communicator, 0x84000001);
}

inline rank_activity call(const char* function, std::vector<mpi_argument> arguments) {
  rank_activity made = activity_in(function);
  made.arguments = std::move(arguments);
  return made;
}
inline rank_report in_call(std::uint32_t rank, const char* function, std::vector<mpi_argument> arguments) {
  rank_report made{entry_index{rank}, process_id{100 + rank}, fail(error_code::unsupported, "no queue library")};
  made.doing = call(function, std::move(arguments));
  return made;
}

}  // namespace mpiacq::test

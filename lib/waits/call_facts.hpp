// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the arguments of a rank's call say about the ranks that it waits for.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "mpiacq/queues/mpi_call.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq::waits {

/// The argument with this role; null if it is not known.
[[nodiscard]] const mpi_argument* argument_of(const rank_activity& doing, mpi_role role);
/// Whether the call is on MPI_COMM_WORLD, as its arguments say.
[[nodiscard]] bool is_on_world(const rank_activity& doing);
/// The root of a collective call: a rank of its communicator. Empty if it is not known, or if it is a special number.
[[nodiscard]] std::optional<std::uint32_t> root_of(const rank_activity& doing);
/// Tells a few roots of one collective call on one communicator apart. Each root costs a pass over all ranks, and a
/// program that is right has one root.
class roots_apart {
 public:
  /// The root of the call of a rank; empty if it is not known, or if other ranks have named too many others.
  [[nodiscard]] std::optional<std::uint32_t> of(const rank_activity& doing);

 private:
  std::set<std::uint32_t> roots_;
};
/// The number of bytes of so many elements of a predefined type; empty if the arguments do not say it.
[[nodiscard]] std::optional<std::uint64_t> bytes_of(const rank_activity& doing, mpi_role count, mpi_role type);
/// The number of bytes of the message that the call sends; empty if the arguments do not say it.
[[nodiscard]] std::optional<std::uint64_t> bytes_sent(const rank_activity& doing);

/// A member of a communicator that has not entered a collective call.
struct absentee {
  std::uint32_t number = 0;  ///< in the job
  std::uint32_t report = 0;
  bool is_root = false;  ///< of the call that it has not entered
  /// It is in another collective call on the same communicator, or in MPI_Finalize. As all ranks make such calls in the
  /// same order, it has probably left the first one already.
  bool is_in_another = false;
};
/// Those of the absent ranks that a rank in this call probably waits for. Some ranks may leave the call before others
/// enter it. The order is kept.
[[nodiscard]] std::vector<absentee> probably_awaited(const std::vector<absentee>& absent, std::string_view function,
                                                     bool by_root);

/// The reports of some ranks in one collective call, and those that they probably wait for.
struct role_in_call {
  std::vector<std::uint32_t> reports;
  std::vector<absentee> awaited;
};
/// The ranks in a call, which need not be synchronising, as its root and the others. `is_root` says which report is the
/// root's.
[[nodiscard]] std::array<role_in_call, 2> root_and_others(const std::vector<std::uint32_t>& reports,
                                                          const std::function<bool(std::uint32_t)>& is_root,
                                                          const std::vector<absentee>& absent,
                                                          std::string_view function);

}  // namespace mpiacq::waits

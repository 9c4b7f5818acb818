// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Messages that have arrived and that no receive has asked for, from the memory of a rank of Open MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "mpiacq/process/symbols.hpp"
#include "mpiacq/process/type_source.hpp"
#include "mpiacq/queues/message_queues.hpp"

namespace mpiacq {

/// The largest number of messages that are read from one rank.
inline constexpr std::size_t most_unexpected_messages = 50'000;
/// The largest number of senders that are looked at in one rank, over all communicators.
inline constexpr std::uint64_t most_senders = std::uint64_t{1} << 22U;

/// The module with the PML ob1: a library of its own, or Open MPI's library. Null if the process has none.
[[nodiscard]] std::shared_ptr<const module> module_of_ob1(symbol_source& symbols);

/// Adds the unexpected messages of the PML ob1 to a report of Open MPI's queue library, which never lists them. Their
/// listings have the origin `memory`. The process must use this PML. `of_pml` knows the private types of the PML; if it
/// does not, the report stays as it was. An object is believed only if it is of the class that its place demands, and
/// if the class has the size of the type. What cannot be read, or is not plausible, shortens the listing of its
/// communicator, and one problem says so.
void look_at_openmpi_unexpected(target& process, type_source& types, type_source& of_pml, queue_report& report);

}  // namespace mpiacq

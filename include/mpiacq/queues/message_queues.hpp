// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The message queues of a process, as values.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/queues/group_members.hpp"

namespace mpiacq {

/// The three queues of a communicator (mqs_op_class).
enum class queue_class : std::uint8_t { sends, receives, unexpected };
inline constexpr std::array all_queue_classes{queue_class::sends, queue_class::receives, queue_class::unexpected};
/// "sends", "receives", "unexpected"
[[nodiscard]] std::string_view name(queue_class c);

/// How far an operation has come (mqs_status).
enum class operation_status : std::uint8_t { pending, matched, complete };
/// "pending", "matched", "complete"
[[nodiscard]] std::string_view name(operation_status status);

/// The other side of an operation. If the group of the communicator is known, `global` comes from the group and not
/// from the queue library.
struct peer {
  bool any = false;                   ///< MPI_ANY_SOURCE: the numbers are empty
  std::optional<std::int64_t> local;  ///< its rank in the communicator (for an intercommunicator, in the remote group)
  std::optional<std::uint32_t>
      global;  ///< its number in the job: its rank in the world, or a number beyond the ranks of the world
};

/// A message.
struct queue_message {
  peer from_or_to;
  std::int64_t tag = 0;
  std::int64_t length = 0;
};

/// One operation (mqs_pending_operation). Members that are not valid in the answer of the library are empty.
struct queue_operation {
  operation_status status = operation_status::pending;
  peer desired;                     ///< the target of a send, or the requested source of a receive
  std::optional<std::int64_t> tag;  ///< empty: MPI_ANY_TAG
  std::int64_t length = 0;          ///< of the buffer, in `queue_report::unit`
  bool system_buffer = false;
  target_address buffer;
  /// The type of `actual`.
  using message = queue_message;
  std::optional<message> actual;   ///< the message, for sends and for operations that are matched or complete
  std::vector<std::string> extra;  ///< lines for people, at most five, made printable; as a rule from the library
};

/// How much is known of one queue of one communicator.
enum class queue_knowledge : std::uint8_t {
  complete,   ///< all operations are listed; there may be none
  cut_short,  ///< listed up to a limit, or up to a failure of the library; a problem says which
  none,       ///< the library has no information (mqs_no_information): an empty list means nothing
  failed,     ///< the library returned an error; a problem says which
};
/// "complete", "cut-short", "none", "failed"
[[nodiscard]] std::string_view name(queue_knowledge k);

/// Who has listed a queue.
enum class queue_origin : std::uint8_t {
  library,  ///< the queue library
  memory,   ///< mpiacq, from the rank's memory: the queue library does not list this queue
};
/// "library", "memory"
[[nodiscard]] std::string_view name(queue_origin origin);

/// One queue of one communicator.
struct queue_listing {
  queue_knowledge known = queue_knowledge::none;
  /// In the order in which MPI would match them. Unexpected messages from the rank's memory are in the order of their
  /// senders.
  std::vector<queue_operation> operations;
  queue_origin origin = queue_origin::library;
};

/// One communicator of one process (mqs_communicator).
struct queue_communicator {
  std::uint64_t id = 0;  ///< unique_id. Whether other processes use the same number depends on the library
  std::string name;      ///< at most 63 bytes, made printable; empty if it has none
  std::int64_t local_rank = 0;
  std::int64_t size = 0;
  /// For each rank of the communicator, its number in the job (mqs_get_comm_group); -1 for a rank that the library does
  /// not know. For an intercommunicator, the local group. Empty if the library does not know the group.
  std::optional<group_members> group;
  /// Whether it is an intercommunicator, whose operations name ranks of the other side. No queue library says it. It is
  /// known from the structures of the MPI (Open MPI with its types), or if an operation names a rank beyond the group.
  /// Empty if it is not known; operations are then taken for operations within the group.
  std::optional<bool> is_inter;
  /// For each rank of the other side of an intercommunicator, its number in the job, as in `group`. Empty if it is not
  /// known.
  std::optional<group_members> remote_group;
  std::array<queue_listing, 3> queues;  ///< indexed by queue_class

  /// The queue of a class.
  [[nodiscard]] const queue_listing& of(queue_class c) const { return queues[static_cast<std::size_t>(c)]; }
  /// The queue of a class.
  [[nodiscard]] queue_listing& of(queue_class c) { return queues[static_cast<std::size_t>(c)]; }
};

/// Marks a communicator as an intercommunicator with this remote group. The peers of its operations get their numbers
/// in the job from the remote group, or none if the group is not known; numbers from the local group would be wrong.
void make_inter(queue_communicator& one, std::optional<group_members> remote_group);
/// Whether an operation names a rank beyond the group, as only operations of intercommunicators can.
[[nodiscard]] bool names_a_rank_beyond(const queue_communicator& one);

/// A new process that the library names (mqs_process_location, MPI-2 extension).
struct new_process {
  process_id pid;
  std::string executable;
  std::string host;
};

/// The unit of lengths; libraries differ.
enum class length_unit : std::uint8_t { bytes, elements, unknown };
/// "bytes", "elements", "unknown"
[[nodiscard]] std::string_view name(length_unit unit);

/// A type or a field that the library needed and that was not known. The report of such a library is not believed.
struct missing_type {
  std::string type;
  std::string field;  ///< empty: the type itself
};

/// The report of a queue library about one process at one moment.
struct queue_report {
  std::string library_path;
  std::string library_version;  ///< mqs_version_string, made printable
  int compatibility = 0;        ///< mqs_version_compatibility: 2, or 3 with the MPI-2 extension
  length_unit unit = length_unit::unknown;
  std::vector<queue_communicator> communicators;  ///< in the order of the library
  std::vector<new_process> new_processes;
  std::string spawn_breakpoint;  ///< the function at which new processes are announced (MPI-2 extension); empty if
                                 ///< there is none
  std::vector<missing_type> missing;
  std::vector<std::string> notes;  ///< messages and output of the library, for people
  std::vector<error> problems;     ///< why lists above are incomplete
};

/// Limits for the library of one process. Exceeding one is a problem of that process only.
struct queue_limits {
  std::uint32_t communicators = 100'000;
  std::uint64_t operations = 1'000'000;                     ///< for one process
  std::uint64_t fetch_bytes = 1U << 20U;                    ///< for one call of fetch_data
  std::uint64_t fetched_bytes = std::uint64_t{1} << 32U;    ///< for one process in total
  std::uint64_t allocated_bytes = std::uint64_t{1} << 30U;  ///< allocated by the library through callbacks
  std::uint32_t group_size = 1U << 24U;
  std::chrono::milliseconds call_time{5000};      ///< for one call into the library
  std::chrono::milliseconds process_time{60000};  ///< for all calls for one process
  std::uint32_t output_bytes = 65536;             ///< written by the library; the rest is dropped and counted
};

}  // namespace mpiacq

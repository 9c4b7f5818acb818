// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
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

/// The other side of an operation. What the library says is put right by the communicator's group where that is known:
/// `global` is then the group's word.
struct peer {
  bool any = false;                     ///< MPI_ANY_SOURCE: the numbers below are empty
  std::optional<std::int64_t> local;    ///< its rank in the communicator (of an intercommunicator: in the remote group)
  std::optional<std::uint32_t> global;  ///< its number in the job: its rank in the world, or an identity past those
};

/// A message that is there.
struct queue_message {
  peer from_or_to;
  std::int64_t tag = 0;
  std::int64_t length = 0;
};

/// One pending operation (mqs_pending_operation), as a value: what was not valid in the library's answer is empty here.
struct queue_operation {
  operation_status status = operation_status::pending;
  peer desired;                     ///< of a send its target, of a receive the source that it wants
  std::optional<std::int64_t> tag;  ///< empty: MPI_ANY_TAG
  std::int64_t length = 0;          ///< of the buffer, in `queue_report::length_unit`
  bool system_buffer = false;
  target_address buffer;
  using message = queue_message;
  std::optional<message> actual;   ///< the message itself, where there is one: sends, and what is matched or complete
  std::vector<std::string> extra;  ///< the library's own lines, five at most, made printable
};

/// What is known of one queue of one communicator.
enum class queue_knowledge : std::uint8_t {
  complete,   ///< all its operations are listed, also where there are none
  cut_short,  ///< listed up to a bound of ours, or up to where the library failed; a problem says which
  none,       ///< the library says that it has no information (mqs_no_information): an empty list means nothing
  failed,     ///< the library gave an error: a problem says which
};
[[nodiscard]] std::string_view name(queue_knowledge k);  ///< "complete", "cut-short", "none", "failed"

struct queue_listing {
  queue_knowledge known = queue_knowledge::none;
  std::vector<queue_operation> operations;  ///< in the library's order: as MPI would match them
};

/// One communicator of one process (mqs_communicator).
struct queue_communicator {
  std::uint64_t id = 0;  ///< unique_id. Whether it is the same number in another process is the library's affair
  std::string name;      ///< empty where it has none; 63 bytes at most, made printable
  std::int64_t local_rank = 0;
  std::int64_t size = 0;
  /// For each rank of it, its number in the job (mqs_get_comm_group); -1 for one that the library cannot place. Empty
  /// where the library cannot say. Of an intercommunicator: the local group.
  std::optional<group_members> group;
  /// Whether it is an intercommunicator: its operations name ranks of the other side. No queue library says it. It is
  /// known where the MPI's own structures are (Open MPI with its types), or an operation names a rank past the group;
  /// empty: nobody knows, and operations are taken for the group's own.
  std::optional<bool> is_inter;
  /// Of an intercommunicator, where that is known: for each rank of the other side its number in the job, as in
  /// `group`.
  std::optional<group_members> remote_group;
  std::array<queue_listing, 3> queues;  ///< by queue_class

  [[nodiscard]] const queue_listing& of(queue_class c) const { return queues[static_cast<std::size_t>(c)]; }
  [[nodiscard]] queue_listing& of(queue_class c) { return queues[static_cast<std::size_t>(c)]; }
};

/// That it is an intercommunicator, and who is on its other side as far as that is known: its operations' peers get
/// their numbers in the job from that, and have none where nobody knows. The local group's would be wrong ones.
void make_inter(queue_communicator& one, std::optional<group_members> remote_group);
/// Whether an operation names a rank past the group's, as only an intercommunicator's can.
[[nodiscard]] bool names_a_rank_beyond(const queue_communicator& one);

/// A process that the library names as new (mqs_process_location, MPI-2 extension).
struct new_process {
  process_id pid;
  std::string executable;
  std::string host;
};

/// What length_unit lengths are counted in: libraries differ.
enum class length_unit : std::uint8_t { bytes, elements, unknown };
[[nodiscard]] std::string_view name(length_unit unit);  ///< "bytes", "elements", "unknown"

/// A type or a field that the library asked for and nobody could give. A library that lacks one is not believed.
struct missing_type {
  std::string type;
  std::string field;  ///< empty: the type itself
};

/// What a queue library said of one process at one moment.
struct queue_report {
  std::string library_path;
  std::string library_version;  ///< mqs_version_string, made printable
  int compatibility = 0;        ///< mqs_version_compatibility: 2, or 3 with the MPI-2 extension
  length_unit unit = length_unit::unknown;
  std::vector<queue_communicator> communicators;  ///< in the library's order
  std::vector<new_process> new_processes;
  std::string spawn_breakpoint;  ///< where new processes are announced (MPI-2 extension); empty: the library has none
  std::vector<missing_type> missing;
  std::vector<std::string> notes;  ///< the library's own messages, and what it wrote to its output: for people
  std::vector<error> problems;     ///< whatever makes the lists above less than whole
};

/// One rank's report, or why there is none.
struct rank_queues {
  std::uint32_t rank = 0;  ///< its number in the job
  process_id pid;
  result<queue_report> report;
};

/// Bounds on what one process's library may cost. What passes one is that process's problem.
struct queue_limits {
  std::uint32_t communicators = 100'000;
  std::uint64_t operations = 1'000'000;                     ///< of one process
  std::uint64_t fetch_bytes = 1U << 20U;                    ///< of one fetch_data
  std::uint64_t fetched_bytes = std::uint64_t{1} << 32U;    ///< of one process in all
  std::uint64_t allocated_bytes = std::uint64_t{1} << 30U;  ///< by the library, through our callbacks
  std::uint32_t group_size = 1U << 24U;
  std::chrono::milliseconds call_time{5000};      ///< of one call into the library
  std::chrono::milliseconds process_time{60000};  ///< of all calls for one process
  std::uint32_t output_bytes = 65536;             ///< that the library may write; the rest is dropped and counted
};

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Message queues in documents. The groups of communicators are separate, each different one once, as runs of numbers:
// every rank of a job has the group of its world, and all of them share a few bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "mpiacq/ranks/rank_report.hpp"
#include "reports/queue_members.hpp"
#include "wire/document.hpp"

namespace mpiacq::agents {

/// first, first + step, ... : `count` numbers.
struct group_run {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::uint64_t count = 1;
};
using group_part = std::vector<group_run>;
/// The groups of a communicator, as indices into `queues_part::groups`.
struct groups_used {
  std::optional<std::uint32_t> group;
  std::optional<std::uint32_t> remote_group;
};
struct queues_part {
  std::vector<group_part> groups;
  std::vector<rank_report> ranks;              ///< without the groups of their communicators
  std::vector<std::vector<groups_used>> used;  ///< for each rank, for each of its communicators
  std::vector<groups_used> called;             ///< for each rank, of the communicator of its call
  clock::duration held_for{};
  bool stopped = false;
  std::vector<std::string> notes;
  std::vector<error> problems;
};

/// The bound for the members of all groups in a document with this number of ranks. A group that several communicators
/// use counts once. Groups beyond the bound are left out, and the ranks that use them have a problem.
[[nodiscard]] std::uint64_t most_group_members(std::size_t ranks);

[[nodiscard]] group_part runs_of(const std::vector<std::int64_t>& group);

template <>
struct stand_in<group_queues> {
  using type = queues_part;
  [[nodiscard]] static queues_part to(const group_queues& queues, pulse_counter& pulses);
  [[nodiscard]] static result<group_queues> from(queues_part part, pulse_counter& pulses);
};

template <>
inline constexpr auto last_of<operation_status> = operation_status::complete;
template <>
inline constexpr auto last_of<queue_knowledge> = queue_knowledge::failed;
template <>
inline constexpr auto last_of<queue_origin> = queue_origin::memory;
template <>
inline constexpr auto last_of<length_unit> = length_unit::unknown;
template <>
inline constexpr auto last_of<mpi_call_kind> = mpi_call_kind::ended;
template <>
inline constexpr auto last_of<mpi_role> = mpi_role::text;
template <>
inline constexpr auto last_of<mpi_request_kind> = mpi_request_kind::partitioned;
template <>
inline constexpr auto last_of<argument_source> = argument_source::debug_information;

}  // namespace mpiacq::agents

namespace mpiacq {

template <>
inline constexpr auto members<queue_listing> =
    std::tuple{member{"known", &queue_listing::known}, member{"operations", &queue_listing::operations},
               member{"origin", &queue_listing::origin}};
template <>
inline constexpr auto members<queue_communicator> =
    std::tuple{member{"id", &queue_communicator::id},
               member{"name", &queue_communicator::name},
               member{"local_rank", &queue_communicator::local_rank},
               member{"size", &queue_communicator::size},
               member{"intercommunicator", &queue_communicator::is_inter},
               member{"queues", &queue_communicator::queues}};
template <>
inline constexpr auto members<queue_report> = std::tuple{member{"path", &queue_report::library_path},
                                                         member{"version", &queue_report::library_version},
                                                         member{"compatibility", &queue_report::compatibility},
                                                         member{"length_unit", &queue_report::unit},
                                                         member{"communicators", &queue_report::communicators},
                                                         member{"new_processes", &queue_report::new_processes},
                                                         member{"spawn_breakpoint", &queue_report::spawn_breakpoint},
                                                         member{"missing_types", &queue_report::missing},
                                                         member{"notes", &queue_report::notes},
                                                         member{"problems", &queue_report::problems}};
template <>
inline constexpr auto members<mpi_argument> =
    std::tuple{member{"role", &mpi_argument::role},          member{"known", &mpi_argument::is_known},
               member{"address", &mpi_argument::is_address}, member{"value", &mpi_argument::value},
               member{"name", &mpi_argument::name},          member{"source", &mpi_argument::source}};
template <>
inline constexpr auto members<call_site> = std::tuple{
    member{"function", &call_site::function}, member{"file", &call_site::file}, member{"line", &call_site::line}};
template <>
inline constexpr auto members<request_message> =
    std::tuple{member{"send", &request_message::is_send}, member{"peer", &request_message::peer},
               member{"world_rank", &request_message::world_rank}, member{"tag", &request_message::tag}};
template <>
inline constexpr auto members<pending_requests> =
    std::tuple{member{"kind", &pending_requests::kind},
               member{"persistent", &pending_requests::persistent},
               member{"communicator", &pending_requests::communicator},
               member{"communicator_name", &pending_requests::communicator_name},
               member{"count", &pending_requests::count},
               member{"message", &pending_requests::message}};
template <>
inline constexpr auto members<awaited_requests> =
    std::tuple{member{"pending", &awaited_requests::pending}, member{"complete", &awaited_requests::complete},
               member{"unknown", &awaited_requests::unknown}};
template <>
inline constexpr auto members<called_communicator> =
    std::tuple{member{"by", &called_communicator::by}, member{"facts", &called_communicator::facts},
               member{"sources", &called_communicator::sources}};
template <>
inline constexpr auto members<rank_activity> = std::tuple{member{"kind", &rank_activity::kind},
                                                          member{"call", &rank_activity::function},
                                                          member{"other_threads", &rank_activity::other_threads},
                                                          member{"arguments", &rank_activity::arguments},
                                                          member{"at", &rank_activity::at},
                                                          member{"requests", &rank_activity::requests},
                                                          member{"on", &rank_activity::on}};
template <>
inline constexpr auto members<rank_report> =
    std::tuple{member{"rank", &rank_report::entry},    member{"pid", &rank_report::pid},
               member{"report", &rank_report::report}, member{"doing", &rank_report::doing},
               member{"pml", &rank_report::pml},       member{"stopped_by_signal", &rank_report::stopped_by_signal}};
template <>
inline constexpr auto members<agents::group_run> =
    std::tuple{member{"first", &agents::group_run::first}, member{"step", &agents::group_run::step},
               member{"count", &agents::group_run::count}};
template <>
inline constexpr auto members<agents::groups_used> = std::tuple{
    member{"group", &agents::groups_used::group}, member{"remote_group", &agents::groups_used::remote_group}};
template <>
inline constexpr auto members<agents::queues_part> =
    std::tuple{member{"groups", &agents::queues_part::groups},    member{"ranks", &agents::queues_part::ranks},
               member{"used", &agents::queues_part::used},        member{"called", &agents::queues_part::called},
               member{"held_us", &agents::queues_part::held_for}, member{"stopped", &agents::queues_part::stopped},
               member{"notes", &agents::queues_part::notes},      member{"problems", &agents::queues_part::problems}};

}  // namespace mpiacq

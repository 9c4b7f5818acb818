// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The table of MPI calls. scripts/mpi-calls makes docs/mpi_calls.md from it.
#include "calls/mpi_calls.hpp"

#include <algorithm>
#include <array>

#include "calls/mpi_parameters.hpp"

namespace mpiacq {

namespace {

using kind = mpi_call_kind;

/// Sorted by name. MPI_Bsend is local by definition. MPI_Alltoallv and similar calls need no message where a count is
/// 0, so no rank has to wait for all others.
constexpr std::array call_table = {
    mpi_call{"Abort", kind::other, "communicator number"},
    mpi_call{"Accumulate", kind::window,
             "buffer count datatype target displacement target_count target_type operation window"},
    mpi_call{"Allgather", kind::synchronising,
             "buffer send_count send_type buffer receive_count receive_type communicator"},
    mpi_call{"Allgather_init", kind::collective,
             "buffer send_count send_type buffer receive_count receive_type communicator info >request"},
    mpi_call{"Allgatherv", kind::synchronising,
             "buffer send_count send_type buffer receive_count[] displacement[] receive_type communicator"},
    mpi_call{
        "Allgatherv_init", kind::collective,
        "buffer send_count send_type buffer receive_count[] displacement[] receive_type communicator info >request"},
    mpi_call{"Allreduce", kind::synchronising, "buffer buffer count datatype operation communicator"},
    mpi_call{"Allreduce_init", kind::collective, "buffer buffer count datatype operation communicator info >request"},
    mpi_call{"Alltoall", kind::synchronising,
             "buffer send_count send_type buffer receive_count receive_type communicator"},
    mpi_call{"Alltoall_init", kind::collective,
             "buffer send_count send_type buffer receive_count receive_type communicator info >request"},
    mpi_call{
        "Alltoallv", kind::collective,
        "buffer send_count[] displacement[] send_type buffer receive_count[] displacement[] receive_type communicator"},
    mpi_call{"Alltoallv_init", kind::collective,
             "buffer send_count[] displacement[] send_type buffer receive_count[] displacement[] receive_type "
             "communicator info >request"},
    mpi_call{"Alltoallw", kind::collective,
             "buffer send_count[] displacement[] send_type[] buffer receive_count[] displacement[] receive_type[] "
             "communicator"},
    mpi_call{"Alltoallw_init", kind::collective,
             "buffer send_count[] displacement[] send_type[] buffer receive_count[] displacement[] receive_type[] "
             "communicator info >request"},
    mpi_call{"Barrier", kind::synchronising, "communicator"},
    mpi_call{"Barrier_init", kind::collective, "communicator info >request"},
    mpi_call{"Bcast", kind::collective, "buffer count datatype root communicator"},
    mpi_call{"Bcast_init", kind::collective, "buffer count datatype root communicator info >request"},
    mpi_call{"Bsend", kind::start, "buffer count datatype destination tag communicator"},
    mpi_call{"Bsend_init", kind::start, "buffer count datatype destination tag communicator >request"},
    mpi_call{"Buffer_detach", kind::flush, ">buffer >size"},
    mpi_call{"Buffer_flush", kind::flush, ""},
    mpi_call{"Buffer_iflush", kind::start, ">request"},
    mpi_call{"Cancel", kind::other, "&request"},
    mpi_call{"Cart_create", kind::synchronising, "communicator number number[] number[] number >communicator"},
    mpi_call{"Cart_sub", kind::synchronising, "communicator number[] >communicator"},
    mpi_call{"Close_port", kind::other, "text"},
    mpi_call{"Comm_accept", kind::collective, "text info root communicator >communicator"},
    mpi_call{"Comm_connect", kind::collective, "text info root communicator >communicator"},
    mpi_call{"Comm_create", kind::synchronising, "communicator group >communicator"},
    mpi_call{"Comm_create_from_group", kind::subgroup, "group text info error_handler >communicator"},
    mpi_call{"Comm_create_group", kind::subgroup, "communicator group tag >communicator"},
    mpi_call{"Comm_detach_buffer", kind::flush, "communicator >buffer >size"},
    mpi_call{"Comm_disconnect", kind::collective, "&communicator"},
    mpi_call{"Comm_dup", kind::synchronising, "communicator >communicator"},
    mpi_call{"Comm_dup_with_info", kind::synchronising, "communicator info >communicator"},
    mpi_call{"Comm_flush_buffer", kind::flush, "communicator"},
    mpi_call{"Comm_free", kind::collective, "&communicator"},
    mpi_call{"Comm_idup", kind::start, "communicator >communicator >request"},
    mpi_call{"Comm_idup_with_info", kind::start, "communicator info >communicator >request"},
    mpi_call{"Comm_iflush_buffer", kind::start, "communicator >request"},
    mpi_call{"Comm_join", kind::other, "number >communicator"},
    mpi_call{"Comm_set_info", kind::collective, "communicator info"},
    mpi_call{"Comm_spawn", kind::synchronising, "text text[] number info root communicator >communicator >number"},
    mpi_call{"Comm_spawn_multiple", kind::synchronising,
             "number text[] text[] number[] info[] root communicator >communicator >number"},
    mpi_call{"Comm_split", kind::synchronising, "communicator color key >communicator"},
    mpi_call{"Comm_split_type", kind::synchronising, "communicator number key info >communicator"},
    mpi_call{"Compare_and_swap", kind::window, "buffer buffer buffer datatype target displacement window"},
    mpi_call{"Dist_graph_create", kind::collective,
             "communicator number number[] number[] number[] number[] info number >communicator"},
    mpi_call{"Dist_graph_create_adjacent", kind::collective,
             "communicator number number[] number[] number number[] number[] info number >communicator"},
    mpi_call{"Exscan", kind::collective, "buffer buffer count datatype operation communicator"},
    mpi_call{"Exscan_init", kind::collective, "buffer buffer count datatype operation communicator info >request"},
    mpi_call{"Fetch_and_op", kind::window, "buffer buffer datatype target displacement operation window"},
    mpi_call{"File_close", kind::file, "&file"},
    mpi_call{"File_delete", kind::other, "text info"},
    mpi_call{"File_iread", kind::start, "file buffer count datatype >request"},
    mpi_call{"File_iread_all", kind::start, "file buffer count datatype >request"},
    mpi_call{"File_iread_at", kind::start, "file offset buffer count datatype >request"},
    mpi_call{"File_iread_at_all", kind::start, "file offset buffer count datatype >request"},
    mpi_call{"File_iread_shared", kind::start, "file buffer count datatype >request"},
    mpi_call{"File_iwrite", kind::start, "file buffer count datatype >request"},
    mpi_call{"File_iwrite_all", kind::start, "file buffer count datatype >request"},
    mpi_call{"File_iwrite_at", kind::start, "file offset buffer count datatype >request"},
    mpi_call{"File_iwrite_at_all", kind::start, "file offset buffer count datatype >request"},
    mpi_call{"File_iwrite_shared", kind::start, "file buffer count datatype >request"},
    mpi_call{"File_open", kind::collective, "communicator text number info >file"},
    mpi_call{"File_preallocate", kind::file, "file size"},
    mpi_call{"File_read", kind::other, "file buffer count datatype >status"},
    mpi_call{"File_read_all", kind::file, "file buffer count datatype >status"},
    mpi_call{"File_read_all_begin", kind::file, "file buffer count datatype"},
    mpi_call{"File_read_all_end", kind::file, "file buffer >status"},
    mpi_call{"File_read_at", kind::other, "file offset buffer count datatype >status"},
    mpi_call{"File_read_at_all", kind::file, "file offset buffer count datatype >status"},
    mpi_call{"File_read_at_all_begin", kind::file, "file offset buffer count datatype"},
    mpi_call{"File_read_at_all_end", kind::file, "file buffer >status"},
    mpi_call{"File_read_ordered", kind::file, "file buffer count datatype >status"},
    mpi_call{"File_read_ordered_begin", kind::file, "file buffer count datatype"},
    mpi_call{"File_read_ordered_end", kind::file, "file buffer >status"},
    mpi_call{"File_read_shared", kind::other, "file buffer count datatype >status"},
    mpi_call{"File_seek_shared", kind::file, "file offset number"},
    mpi_call{"File_set_atomicity", kind::file, "file number"},
    mpi_call{"File_set_info", kind::file, "file info"},
    mpi_call{"File_set_size", kind::file, "file size"},
    mpi_call{"File_set_view", kind::file, "file offset datatype datatype text info"},
    mpi_call{"File_sync", kind::file, "file"},
    mpi_call{"File_write", kind::other, "file buffer count datatype >status"},
    mpi_call{"File_write_all", kind::file, "file buffer count datatype >status"},
    mpi_call{"File_write_all_begin", kind::file, "file buffer count datatype"},
    mpi_call{"File_write_all_end", kind::file, "file buffer >status"},
    mpi_call{"File_write_at", kind::other, "file offset buffer count datatype >status"},
    mpi_call{"File_write_at_all", kind::file, "file offset buffer count datatype >status"},
    mpi_call{"File_write_at_all_begin", kind::file, "file offset buffer count datatype"},
    mpi_call{"File_write_at_all_end", kind::file, "file buffer >status"},
    mpi_call{"File_write_ordered", kind::file, "file buffer count datatype >status"},
    mpi_call{"File_write_ordered_begin", kind::file, "file buffer count datatype"},
    mpi_call{"File_write_ordered_end", kind::file, "file buffer >status"},
    mpi_call{"File_write_shared", kind::other, "file buffer count datatype >status"},
    mpi_call{"Finalize", kind::collective, ""},
    mpi_call{"Gather", kind::collective,
             "buffer send_count send_type buffer receive_count receive_type root communicator"},
    mpi_call{"Gather_init", kind::collective,
             "buffer send_count send_type buffer receive_count receive_type root communicator info >request"},
    mpi_call{"Gatherv", kind::collective,
             "buffer send_count send_type buffer receive_count[] displacement[] receive_type root communicator"},
    mpi_call{"Gatherv_init", kind::collective,
             "buffer send_count send_type buffer receive_count[] displacement[] receive_type root communicator info "
             ">request"},
    mpi_call{"Get", kind::window, "buffer count datatype target displacement target_count target_type window"},
    mpi_call{
        "Get_accumulate", kind::window,
        "buffer count datatype buffer count datatype target displacement target_count target_type operation window"},
    mpi_call{"Graph_create", kind::collective, "communicator number number[] number[] number >communicator"},
    mpi_call{"Iallgather", kind::start,
             "buffer send_count send_type buffer receive_count receive_type communicator >request"},
    mpi_call{"Iallgatherv", kind::start,
             "buffer send_count send_type buffer receive_count[] displacement[] receive_type communicator >request"},
    mpi_call{"Iallreduce", kind::start, "buffer buffer count datatype operation communicator >request"},
    mpi_call{"Ialltoall", kind::start,
             "buffer send_count send_type buffer receive_count receive_type communicator >request"},
    mpi_call{"Ialltoallv", kind::start,
             "buffer send_count[] displacement[] send_type buffer receive_count[] displacement[] receive_type "
             "communicator >request"},
    mpi_call{"Ialltoallw", kind::start,
             "buffer send_count[] displacement[] send_type[] buffer receive_count[] displacement[] receive_type[] "
             "communicator >request"},
    mpi_call{"Ibarrier", kind::start, "communicator >request"},
    mpi_call{"Ibcast", kind::start, "buffer count datatype root communicator >request"},
    mpi_call{"Ibsend", kind::start, "buffer count datatype destination tag communicator >request"},
    mpi_call{"Iexscan", kind::start, "buffer buffer count datatype operation communicator >request"},
    mpi_call{"Igather", kind::start,
             "buffer send_count send_type buffer receive_count receive_type root communicator >request"},
    mpi_call{
        "Igatherv", kind::start,
        "buffer send_count send_type buffer receive_count[] displacement[] receive_type root communicator >request"},
    mpi_call{"Improbe", kind::test, "source tag communicator >number >message >status"},
    mpi_call{"Imrecv", kind::start, "buffer count datatype &message >request"},
    mpi_call{"Ineighbor_allgather", kind::start,
             "buffer send_count send_type buffer receive_count receive_type communicator >request"},
    mpi_call{"Ineighbor_allgatherv", kind::start,
             "buffer send_count send_type buffer receive_count[] displacement[] receive_type communicator >request"},
    mpi_call{"Ineighbor_alltoall", kind::start,
             "buffer send_count send_type buffer receive_count receive_type communicator >request"},
    mpi_call{"Ineighbor_alltoallv", kind::start,
             "buffer send_count[] displacement[] send_type buffer receive_count[] displacement[] receive_type "
             "communicator >request"},
    mpi_call{"Ineighbor_alltoallw", kind::start,
             "buffer send_count[] displacement[] send_type[] buffer receive_count[] displacement[] receive_type[] "
             "communicator >request"},
    mpi_call{"Init", kind::other, "&number &text"},
    mpi_call{"Init_thread", kind::other, "&number &text number >number"},
    mpi_call{"Intercomm_create", kind::collective,
             "communicator local_leader peer_communicator remote_leader tag >communicator"},
    mpi_call{"Intercomm_create_from_groups", kind::subgroup,
             "group local_leader group remote_leader text info error_handler >communicator"},
    mpi_call{"Intercomm_merge", kind::synchronising, "communicator number >communicator"},
    mpi_call{"Iprobe", kind::test, "source tag communicator >number >status"},
    mpi_call{"Irecv", kind::start, "buffer count datatype source tag communicator >request"},
    mpi_call{"Ireduce", kind::start, "buffer buffer count datatype operation root communicator >request"},
    mpi_call{"Ireduce_scatter", kind::start, "buffer buffer receive_count[] datatype operation communicator >request"},
    mpi_call{"Ireduce_scatter_block", kind::start,
             "buffer buffer receive_count datatype operation communicator >request"},
    mpi_call{"Irsend", kind::start, "buffer count datatype destination tag communicator >request"},
    mpi_call{"Iscan", kind::start, "buffer buffer count datatype operation communicator >request"},
    mpi_call{"Iscatter", kind::start,
             "buffer send_count send_type buffer receive_count receive_type root communicator >request"},
    mpi_call{
        "Iscatterv", kind::start,
        "buffer send_count[] displacement[] send_type buffer receive_count receive_type root communicator >request"},
    mpi_call{"Isend", kind::start, "buffer count datatype destination tag communicator >request"},
    mpi_call{"Isendrecv", kind::start,
             "buffer send_count send_type destination send_tag buffer receive_count receive_type source receive_tag "
             "communicator >request"},
    mpi_call{"Isendrecv_replace", kind::start,
             "buffer count datatype destination send_tag source receive_tag communicator >request"},
    mpi_call{"Issend", kind::start, "buffer count datatype destination tag communicator >request"},
    mpi_call{"Lookup_name", kind::other, "text info >text"},
    mpi_call{"Mprobe", kind::probe, "source tag communicator >message >status"},
    mpi_call{"Mrecv", kind::receive, "buffer count datatype &message >status"},
    mpi_call{"Neighbor_allgather", kind::neighbourhood,
             "buffer send_count send_type buffer receive_count receive_type communicator"},
    mpi_call{"Neighbor_allgather_init", kind::collective,
             "buffer send_count send_type buffer receive_count receive_type communicator info >request"},
    mpi_call{"Neighbor_allgatherv", kind::neighbourhood,
             "buffer send_count send_type buffer receive_count[] displacement[] receive_type communicator"},
    mpi_call{
        "Neighbor_allgatherv_init", kind::collective,
        "buffer send_count send_type buffer receive_count[] displacement[] receive_type communicator info >request"},
    mpi_call{"Neighbor_alltoall", kind::neighbourhood,
             "buffer send_count send_type buffer receive_count receive_type communicator"},
    mpi_call{"Neighbor_alltoall_init", kind::collective,
             "buffer send_count send_type buffer receive_count receive_type communicator info >request"},
    mpi_call{
        "Neighbor_alltoallv", kind::neighbourhood,
        "buffer send_count[] displacement[] send_type buffer receive_count[] displacement[] receive_type communicator"},
    mpi_call{"Neighbor_alltoallv_init", kind::collective,
             "buffer send_count[] displacement[] send_type buffer receive_count[] displacement[] receive_type "
             "communicator info >request"},
    mpi_call{"Neighbor_alltoallw", kind::neighbourhood,
             "buffer send_count[] displacement[] send_type[] buffer receive_count[] displacement[] receive_type[] "
             "communicator"},
    mpi_call{"Neighbor_alltoallw_init", kind::collective,
             "buffer send_count[] displacement[] send_type[] buffer receive_count[] displacement[] receive_type[] "
             "communicator info >request"},
    mpi_call{"Open_port", kind::other, "info >text"},
    mpi_call{"Parrived", kind::test, "request partition >number"},
    mpi_call{"Pready", kind::start, "partition request"},
    mpi_call{"Pready_list", kind::start, "number partition[] request"},
    mpi_call{"Pready_range", kind::start, "partition partition request"},
    mpi_call{"Precv_init", kind::start, "buffer partitions count datatype source tag communicator info >request"},
    mpi_call{"Probe", kind::probe, "source tag communicator >status"},
    mpi_call{"Psend_init", kind::start, "buffer partitions count datatype destination tag communicator info >request"},
    mpi_call{"Publish_name", kind::other, "text info text"},
    mpi_call{"Put", kind::window, "buffer count datatype target displacement target_count target_type window"},
    mpi_call{"Raccumulate", kind::start,
             "buffer count datatype target displacement target_count target_type operation window >request"},
    mpi_call{"Recv", kind::receive, "buffer count datatype source tag communicator >status"},
    mpi_call{"Recv_init", kind::start, "buffer count datatype source tag communicator >request"},
    mpi_call{"Reduce", kind::collective, "buffer buffer count datatype operation root communicator"},
    mpi_call{"Reduce_init", kind::collective, "buffer buffer count datatype operation root communicator info >request"},
    mpi_call{"Reduce_scatter", kind::collective, "buffer buffer receive_count[] datatype operation communicator"},
    mpi_call{"Reduce_scatter_block", kind::synchronising,
             "buffer buffer receive_count datatype operation communicator"},
    mpi_call{"Reduce_scatter_block_init", kind::collective,
             "buffer buffer receive_count datatype operation communicator info >request"},
    mpi_call{"Reduce_scatter_init", kind::collective,
             "buffer buffer receive_count[] datatype operation communicator info >request"},
    mpi_call{"Request_free", kind::other, "&request"},
    mpi_call{"Request_get_status", kind::test, "request >number >status"},
    mpi_call{"Request_get_status_all", kind::test, "request_count request[] >number >status"},
    mpi_call{"Request_get_status_any", kind::test, "request_count request[] >number >number >status"},
    mpi_call{"Request_get_status_some", kind::test, "request_count request[] >number >number >status"},
    mpi_call{"Rget", kind::start, "buffer count datatype target displacement target_count target_type window >request"},
    mpi_call{"Rget_accumulate", kind::start,
             "buffer count datatype buffer count datatype target displacement target_count target_type operation "
             "window >request"},
    mpi_call{"Rput", kind::start, "buffer count datatype target displacement target_count target_type window >request"},
    mpi_call{"Rsend", kind::send, "buffer count datatype destination tag communicator"},
    mpi_call{"Rsend_init", kind::start, "buffer count datatype destination tag communicator >request"},
    mpi_call{"Scan", kind::collective, "buffer buffer count datatype operation communicator"},
    mpi_call{"Scan_init", kind::collective, "buffer buffer count datatype operation communicator info >request"},
    mpi_call{"Scatter", kind::collective,
             "buffer send_count send_type buffer receive_count receive_type root communicator"},
    mpi_call{"Scatter_init", kind::collective,
             "buffer send_count send_type buffer receive_count receive_type root communicator info >request"},
    mpi_call{"Scatterv", kind::collective,
             "buffer send_count[] displacement[] send_type buffer receive_count receive_type root communicator"},
    mpi_call{"Scatterv_init", kind::collective,
             "buffer send_count[] displacement[] send_type buffer receive_count receive_type root communicator info "
             ">request"},
    mpi_call{"Send", kind::send, "buffer count datatype destination tag communicator"},
    mpi_call{"Send_init", kind::start, "buffer count datatype destination tag communicator >request"},
    mpi_call{"Sendrecv", kind::exchange,
             "buffer send_count send_type destination send_tag buffer receive_count receive_type source receive_tag "
             "communicator >status"},
    mpi_call{"Sendrecv_replace", kind::exchange,
             "buffer count datatype destination send_tag source receive_tag communicator >status"},
    mpi_call{"Session_detach_buffer", kind::flush, "session >buffer >size"},
    mpi_call{"Session_finalize", kind::collective, "&session"},
    mpi_call{"Session_flush_buffer", kind::flush, "session"},
    mpi_call{"Session_iflush_buffer", kind::start, "session >request"},
    mpi_call{"Session_init", kind::other, "info error_handler >session"},
    mpi_call{"Ssend", kind::send, "buffer count datatype destination tag communicator"},
    mpi_call{"Ssend_init", kind::start, "buffer count datatype destination tag communicator >request"},
    mpi_call{"Start", kind::start, "&request"},
    mpi_call{"Startall", kind::start, "request_count request[]"},
    mpi_call{"Test", kind::test, "&request >number >status"},
    mpi_call{"Testall", kind::test, "request_count request[] >number >status"},
    mpi_call{"Testany", kind::test, "request_count request[] >number >number >status"},
    mpi_call{"Testsome", kind::test, "request_count request[] >number >number >status"},
    mpi_call{"Unpublish_name", kind::other, "text info text"},
    mpi_call{"Wait", kind::wait_one, "&request >status"},
    mpi_call{"Waitall", kind::wait_all, "request_count request[] >status"},
    mpi_call{"Waitany", kind::wait_any, "request_count request[] >number >status"},
    mpi_call{"Waitsome", kind::wait_any, "request_count request[] >number >number >status"},
    mpi_call{"Win_allocate", kind::collective, "size number info communicator >buffer >window"},
    mpi_call{"Win_allocate_shared", kind::collective, "size number info communicator >buffer >window"},
    mpi_call{"Win_complete", kind::window, "window"},
    mpi_call{"Win_create", kind::synchronising, "buffer size number info communicator >window"},
    mpi_call{"Win_create_dynamic", kind::collective, "info communicator >window"},
    mpi_call{"Win_fence", kind::collective, "assertion window"},
    mpi_call{"Win_flush", kind::window, "target window"},
    mpi_call{"Win_flush_all", kind::window, "window"},
    mpi_call{"Win_flush_local", kind::window, "target window"},
    mpi_call{"Win_flush_local_all", kind::window, "window"},
    mpi_call{"Win_free", kind::collective, "&window"},
    mpi_call{"Win_lock", kind::window, "lock_type target assertion window"},
    mpi_call{"Win_lock_all", kind::window, "assertion window"},
    mpi_call{"Win_post", kind::window, "group assertion window"},
    mpi_call{"Win_set_info", kind::collective, "window info"},
    mpi_call{"Win_start", kind::window, "group assertion window"},
    mpi_call{"Win_sync", kind::other, "window"},
    mpi_call{"Win_test", kind::window, "window >number"},
    mpi_call{"Win_unlock", kind::window, "target window"},
    mpi_call{"Win_unlock_all", kind::window, "window"},
    mpi_call{"Win_wait", kind::window, "window"},
};

constexpr bool is_sorted_by_name() {
  return std::is_sorted(call_table.begin(), call_table.end(),
                        [](const mpi_call& a, const mpi_call& b) { return a.name < b.name; });
}
static_assert(is_sorted_by_name());

constexpr bool words_are_in_order() {
  for (std::size_t i = 0; i < mpi_role_count; ++i) {
    if (static_cast<std::size_t>(mpi_role_words[i].role) != i) return false;
  }
  return true;
}
static_assert(words_are_in_order());

constexpr bool has_known_words(const mpi_call& call) {
  const auto count = parameter_count(call.parameters);
  return count && *count <= most_mpi_parameters;
}
static_assert(std::all_of(call_table.begin(), call_table.end(), has_known_words));

}  // namespace

std::span<const mpi_call> mpi_calls() {
  return call_table;
}

const mpi_call* mpi_call_named(std::string_view name) {
  const auto at = std::lower_bound(call_table.begin(), call_table.end(), name,
                                   [](const mpi_call& call, std::string_view wanted) { return call.name < wanted; });
  return at != call_table.end() && at->name == name ? &*at : nullptr;
}

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace mpiacq::mqd_host {

/// The functions of a queue library, and the states outside of them. The values are sent over the socket, so a new
/// entry is added at the end.
enum class entry_point : std::uint8_t {
  none,  ///< no code of the library runs
  load,  ///< dlopen: the library's constructors run
  setup_basic_callbacks,
  version_string,
  version_compatibility,
  dll_taddr_width,
  dll_error_string,
  setup_image,
  image_has_queues,
  destroy_image_info,
  setup_process,
  process_has_queues,
  destroy_process_info,
  update_communicator_list,
  setup_communicator_iterator,
  get_communicator,
  next_communicator,
  setup_operation_iterator,
  next_operation,
  get_comm_group,
  setup_job,
  destroy_job_info,
  set_process_identity,
  setup_new_process_iterator,
  next_new_process,
  spawn_breakpoint_name,
};
inline constexpr std::size_t entry_point_count = 26;

/// The exported symbol ("mqs_next_operation"); "dlopen" for `load`; empty for `none` and for any other value.
[[nodiscard]] std::string_view name(entry_point entry);

/// Whether a library must define an entry point.
enum class entry_need : std::uint8_t {
  none,       ///< no function
  required,   ///< a library that lacks it is refused
  optional,   ///< newer than the first version of the interface
  extension,  ///< of the MPI-2 extension: looked up in a library of version 3, and optional there
};

struct entry_point_facts {
  entry_point entry;
  std::string_view symbol;
  entry_need need;
  std::string_view other_symbol;  ///< the name in the document if the headers have another one; else empty
};

/// All entry points, indexed by their number.
inline constexpr std::array<entry_point_facts, entry_point_count> entry_points{{
    {entry_point::none, "", entry_need::none, ""},
    {entry_point::load, "dlopen", entry_need::none, ""},
    {entry_point::setup_basic_callbacks, "mqs_setup_basic_callbacks", entry_need::required, ""},
    {entry_point::version_string, "mqs_version_string", entry_need::required, ""},
    {entry_point::version_compatibility, "mqs_version_compatibility", entry_need::required, ""},
    // A library without this symbol is older than March 2000 and has the old width: it is refused with its own message.
    {entry_point::dll_taddr_width, "mqs_dll_taddr_width", entry_need::required, ""},
    {entry_point::dll_error_string, "mqs_dll_error_string", entry_need::required, ""},
    {entry_point::setup_image, "mqs_setup_image", entry_need::required, ""},
    {entry_point::image_has_queues, "mqs_image_has_queues", entry_need::required, ""},
    {entry_point::destroy_image_info, "mqs_destroy_image_info", entry_need::required, ""},
    {entry_point::setup_process, "mqs_setup_process", entry_need::required, ""},
    {entry_point::process_has_queues, "mqs_process_has_queues", entry_need::required, ""},
    {entry_point::destroy_process_info, "mqs_destroy_process_info", entry_need::required, ""},
    {entry_point::update_communicator_list, "mqs_update_communicator_list", entry_need::required, ""},
    {entry_point::setup_communicator_iterator, "mqs_setup_communicator_iterator", entry_need::required, ""},
    {entry_point::get_communicator, "mqs_get_communicator", entry_need::required, ""},
    {entry_point::next_communicator, "mqs_next_communicator", entry_need::required, ""},
    {entry_point::setup_operation_iterator, "mqs_setup_operation_iterator", entry_need::required, ""},
    {entry_point::next_operation, "mqs_next_operation", entry_need::required, ""},
    {entry_point::get_comm_group, "mqs_get_comm_group", entry_need::optional, ""},
    {entry_point::setup_job, "mqs_setup_job", entry_need::extension, ""},
    {entry_point::destroy_job_info, "mqs_destroy_job_info", entry_need::extension, ""},
    {entry_point::set_process_identity, "mqs_set_process_identity", entry_need::extension, ""},
    {entry_point::setup_new_process_iterator, "mqs_setup_new_process_iterator", entry_need::extension, ""},
    {entry_point::next_new_process, "mqs_next_new_process", entry_need::extension, "next_new_process"},
    {entry_point::spawn_breakpoint_name, "mqs_spawn_breakpoint_name", entry_need::extension, ""},
}};

}  // namespace mpiacq::mqd_host

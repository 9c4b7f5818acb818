// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The messages between the tool and its tracer server. Each command has one answer, of the type that it names, before
// the next command is sent. Events have a socket of their own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "framing/wire.hpp"
#include "mpiacq/process/tracer.hpp"
#include "wire/launch_surroundings.hpp"

namespace mpiacq::tracing {

inline constexpr std::string_view build_version = MPIACQ_VERSION;

/// The first command. Both sides must be of the same build.
struct begin_command {
  using answer = void;
  std::string version;
  std::chrono::milliseconds stop_limit{};
  std::optional<std::chrono::milliseconds> hold_limit;
};
/// The descriptors that the program inherits travel with the message.
struct launch_command {
  using answer = process_id;
  launch_request request;
  launch_surroundings surroundings;
};
struct attach_command {
  using answer = void;
  process_id process;
  attach_options options;
};
struct resume_command {
  using answer = void;
  process_id process;
};
struct interrupt_command {
  using answer = void;
  process_id process;
};
struct detach_command {
  using answer = void;
  process_id process;
  leave how = leave::running;
};
struct kill_command {
  using answer = void;
  process_id process;
};
struct insert_breakpoint_command {
  using answer = breakpoint_kind;
  process_id process;
  target_address address;
  breakpoint_kind kind = breakpoint_kind::automatic;
};
struct remove_breakpoint_command {
  using answer = void;
  process_id process;
  target_address address;
};
struct insert_watchpoint_command {
  using answer = void;
  process_id process;
  target_address address;
  std::uint64_t length = 0;
};
struct remove_watchpoint_command {
  using answer = void;
  process_id process;
  target_address address;
};
struct restore_on_exit_command {
  using answer = void;
  process_id process;
  target_address address;
  std::vector<std::byte> bytes;
};
struct follow_children_command {
  using answer = void;
  process_id process;
  bool follow = false;
};
struct threads_command {
  using answer = std::vector<thread_id>;
  process_id process;
};
struct attach_all_command {
  using answer = std::vector<result<void>>;
  std::vector<attach_target> targets;
  attach_options options;
};
struct detach_all_command {
  using answer = std::vector<result<void>>;
  std::vector<process_id> processes;
  leave how = leave::running;
};
struct registers_command {
  using answer = std::vector<result<std::vector<thread_registers>>>;
  std::vector<process_id> processes;
  which_threads which = which_threads::all;
  register_sets sets = register_sets::general;
};
/// The tool still works with stopped processes. Like every command, it restarts the time of tracer_options::hold_limit.
struct keep_held_command {
  using answer = void;
};
/// Asks whether no event can occur any more, because nothing is traced.
struct is_idle_command {
  using answer = bool;
  bool surely = false;  ///< also excludes a child that the kernel has attached and whose maker has not reported it yet
};

using command =
    std::variant<begin_command, launch_command, attach_command, resume_command, interrupt_command, detach_command,
                 kill_command, insert_breakpoint_command, remove_breakpoint_command, insert_watchpoint_command,
                 remove_watchpoint_command, restore_on_exit_command, follow_children_command, threads_command,
                 is_idle_command, attach_all_command, detach_all_command, registers_command, keep_held_command>;

struct request_message {
  std::uint64_t events_taken = 0;  ///< the number of events that the tool had received when it sent this command
  command what;
};

using base::decode;
using base::encode;

}  // namespace mpiacq::tracing

namespace mpiacq {

template <>
inline constexpr auto members<tracing::begin_command> = std::tuple{
    &tracing::begin_command::version, &tracing::begin_command::stop_limit, &tracing::begin_command::hold_limit};
template <>
inline constexpr auto members<launch_request> =
    std::tuple{&launch_request::arguments, &launch_request::environment, &launch_request::kill_with_tool,
               &launch_request::follow_children};
template <>
inline constexpr auto members<tracing::launch_surroundings> =
    std::tuple{&tracing::launch_surroundings::search_path,     &tracing::launch_surroundings::blocked_signals,
               &tracing::launch_surroundings::ignored_signals, &tracing::launch_surroundings::process_group,
               &tracing::launch_surroundings::file_mode_mask,  &tracing::launch_surroundings::descriptors};
template <>
inline constexpr auto members<tracing::launch_command> =
    std::tuple{&tracing::launch_command::request, &tracing::launch_command::surroundings};
template <>
inline constexpr auto members<attach_options> =
    std::tuple{&attach_options::follow_children, &attach_options::report_end};
template <>
inline constexpr auto members<tracing::attach_command> =
    std::tuple{&tracing::attach_command::process, &tracing::attach_command::options};
template <>
inline constexpr auto members<tracing::resume_command> = std::tuple{&tracing::resume_command::process};
template <>
inline constexpr auto members<tracing::interrupt_command> = std::tuple{&tracing::interrupt_command::process};
template <>
inline constexpr auto members<tracing::detach_command> =
    std::tuple{&tracing::detach_command::process, &tracing::detach_command::how};
template <>
inline constexpr auto members<tracing::kill_command> = std::tuple{&tracing::kill_command::process};
template <>
inline constexpr auto members<tracing::insert_breakpoint_command> =
    std::tuple{&tracing::insert_breakpoint_command::process, &tracing::insert_breakpoint_command::address,
               &tracing::insert_breakpoint_command::kind};
template <>
inline constexpr auto members<tracing::remove_breakpoint_command> =
    std::tuple{&tracing::remove_breakpoint_command::process, &tracing::remove_breakpoint_command::address};
template <>
inline constexpr auto members<tracing::insert_watchpoint_command> =
    std::tuple{&tracing::insert_watchpoint_command::process, &tracing::insert_watchpoint_command::address,
               &tracing::insert_watchpoint_command::length};
template <>
inline constexpr auto members<tracing::remove_watchpoint_command> =
    std::tuple{&tracing::remove_watchpoint_command::process, &tracing::remove_watchpoint_command::address};
template <>
inline constexpr auto members<tracing::restore_on_exit_command> =
    std::tuple{&tracing::restore_on_exit_command::process, &tracing::restore_on_exit_command::address,
               &tracing::restore_on_exit_command::bytes};
template <>
inline constexpr auto members<tracing::follow_children_command> =
    std::tuple{&tracing::follow_children_command::process, &tracing::follow_children_command::follow};
template <>
inline constexpr auto members<tracing::threads_command> = std::tuple{&tracing::threads_command::process};
template <>
inline constexpr auto members<tracing::is_idle_command> = std::tuple{&tracing::is_idle_command::surely};
template <>
inline constexpr auto members<tracing::keep_held_command> = std::tuple{};
template <>
inline constexpr auto members<attach_target> =
    std::tuple{&attach_target::process, &attach_target::start_time, &attach_target::user};
template <>
inline constexpr auto members<tracing::attach_all_command> =
    std::tuple{&tracing::attach_all_command::targets, &tracing::attach_all_command::options};
template <>
inline constexpr auto members<tracing::detach_all_command> =
    std::tuple{&tracing::detach_all_command::processes, &tracing::detach_all_command::how};
template <>
inline constexpr auto members<tracing::registers_command> = std::tuple{
    &tracing::registers_command::processes, &tracing::registers_command::which, &tracing::registers_command::sets};
template <>
inline constexpr auto members<tracing::request_message> =
    std::tuple{&tracing::request_message::events_taken, &tracing::request_message::what};

template <>
inline constexpr auto members<exit_status> =
    std::tuple{&exit_status::signaled, &exit_status::value, &exit_status::core_dumped};
template <>
inline constexpr auto members<entry_reached> = std::tuple{};
template <>
inline constexpr auto members<process_born> = std::tuple{&process_born::parent, &process_born::shares_memory};
template <>
inline constexpr auto members<breakpoint_hit> = std::tuple{&breakpoint_hit::thread, &breakpoint_hit::address};
template <>
inline constexpr auto members<watch_hit> = std::tuple{&watch_hit::thread, &watch_hit::address};
template <>
inline constexpr auto members<group_stopped> = std::tuple{&group_stopped::signal};
template <>
inline constexpr auto members<group_continued> = std::tuple{};
template <>
inline constexpr auto members<interrupted> = std::tuple{};
template <>
inline constexpr auto members<process_ending> =
    std::tuple{&process_ending::status, &process_ending::thread, &process_ending::signal_code, &process_ending::sender,
               &process_ending::fault};
template <>
inline constexpr auto members<process_ended> = std::tuple{&process_ended::status};
template <>
inline constexpr auto members<tracing_problem> = std::tuple{&tracing_problem::what};
template <>
inline constexpr auto members<control_lost> = std::tuple{&control_lost::why};
template <>
inline constexpr auto members<process_event> = std::tuple{&process_event::process, &process_event::what};

}  // namespace mpiacq

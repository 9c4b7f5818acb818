// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What is known of the traced processes and their threads: plain structures.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <sys/types.h>

#include "engine/proc_files.hpp"
#include "engine/ptrace_arch.hpp"
#include "mpiacq/process/tracer.hpp"
#include "wire/launch_surroundings.hpp"

namespace mpiacq::tracing {

/// How the answer to a command goes back to who asked. Called exactly once.
template <class T>
using reply = std::function<void(result<T>)>;

enum class thread_state : std::uint8_t {
  running,    ///< or about to report a stop or its end
  stopped,    ///< in a ptrace-stop that we have waited for
  listening,  ///< in a group stop (PTRACE_LISTEN): stopped, but not ours to command until it is interrupted
};

/// A hit that was reported, and then left through a signal's handler: when the handler returns to it with the same
/// stack, it is the same call of the function, not another one.
struct interrupted_call {
  target_address address;
  target_address stack;
};

struct traced_thread {
  pid_t id = 0;
  thread_state state = thread_state::running;
  bool registers_due = false;                 ///< its breakpoint registers are to be set at its next stop
  bool in_vfork = false;                      ///< a child of its vfork shares our memory
  bool stepping = false;                      ///< makes one step off a breakpoint
  bool zombie = false;                        ///< the leader, which has ended before other threads
  bool late = false;                          ///< did not stop in time; nobody waits for it any more
  int signal = 0;                             ///< to be delivered when it goes on
  int group_stop = 0;                         ///< the stop signal, while it takes part in a group stop
  std::optional<target_address> standing_on;  ///< the breakpoint that it has hit, and not left yet
  interrupted_call leaving;                   ///< stepping: what it leaves
  std::optional<interrupted_call> left_by_signal;
};

struct breakpoint {
  target_address address;
  breakpoint_kind kind = breakpoint_kind::hardware;
  bool for_user = false;            ///< put in by insert_breakpoint
  bool for_entry = false;           ///< ours, to stop at the entry point
  std::vector<std::byte> original;  ///< software: the bytes that the trap instruction replaced
  std::uint8_t written = 0;         ///< not 0: no breakpoint, but so many bytes there are watched for writes

  [[nodiscard]] bool is_at(target_address where) const { return address == where && written == 0; }
  [[nodiscard]] arch::hardware_trigger trigger() const { return {address, written}; }
};

using hit = std::variant<breakpoint_hit, watch_hit>;

[[nodiscard]] inline bool has_software(const std::vector<breakpoint>& all) {
  return std::any_of(all.begin(), all.end(), [](const breakpoint& b) { return b.kind == breakpoint_kind::software; });
}

/// How the children are to be treated of a process that is gone, or has another program now: one that it made before
/// may be still to come.
struct left_behind {
  pid_t process = 0;
  clock::time_point when;
  bool follow_children = false;
  bool ends_with_tool = false;
  std::vector<breakpoint> traps;
};

/// A child that the kernel has attached to us, until it has stopped, and until its parent has told of it where that
/// matters.
struct newborn_process {
  pid_t parent = 0;  ///< who made it; until that one has told of it, who has it
  bool stopped = false;
  bool announced = false;
  bool followed = false;  ///< it is to be one of ours
  bool shares_memory = false;
  bool ends_with_tool = false;
  int signal = 0;
};

struct detach_request {
  leave how = leave::running;
  reply<void> answer;
  bool without_tool = false;  ///< the tool did not ask for it: what restore_on_exit asked for is written
};

/// A launch as the tool asks for it.
struct launch_order {
  launch_request request;
  launch_surroundings surroundings;
  std::vector<unique_fd> descriptors;  ///< the working directory, then what the program inherits
};

/// A process that is being taken hold of, until all its threads are held.
struct attach_request {
  attach_options options;
  reply<void> answer;
  deadline until = no_deadline;                  ///< no thread that is new may turn up later
  std::optional<error> failure;                  ///< why all is undone, once that is known
  std::optional<std::uint64_t> start_time = {};  ///< it must be the process that was started then
  bool is_known = false;                         ///< process_folders has that one
  std::optional<user_id> user = {};              ///< its effective user must be this one
  int tries_left = 3;                            ///< where another tracer attaches at the same time
};

/// An attach that another tracer was in the way of. It begins again at `when`; the process is not one of ours until
/// then.
struct delayed_attach {
  pid_t id = 0;
  deadline when = no_deadline;
  attach_request request;
};

/// A program that is being started, until its exec has worked or failed.
struct pending_launch {
  unique_fd failure;  ///< the child writes errno here where exec fails
  launch_order order;
  std::vector<std::string> candidates;  ///< the paths that the child tries, in order
  bool through_shell = false;           ///< a text without an interpreter line, given to /bin/sh as execvp does
  reply<process_id> answer;
};

/// See the table in engine.hpp.
enum class phase : std::uint8_t { launching, running, stopping, held, stepping, leaving, released };

struct traced_process {
  pid_t id = 0;
  pid_t parent = 0;  ///< of a followed child: who made it
  bool launched = false;
  bool ends_with_tool = false;
  phase now = phase::running;
  std::map<pid_t, traced_thread> threads;
  std::vector<breakpoint> breakpoints;
  std::vector<breakpoint> past_traps;  ///< software ones that were taken out: a child forked before still has them
  arch::hardware_table hardware{};     ///< the hardware ones among them, by register
  bool had_breakpoints = false;        ///< since it is ours
  bool lifted = false;                 ///< the software ones are out of the memory for a while
  bool follow_children = false;        ///< those that it makes are to be ours
  bool sees_forks = false;             ///< PTRACE_O_TRACEFORK and TRACEVFORK are set
  bool shares_memory = false;          ///< with the process that made it, until it execs

  std::map<target_address, std::vector<std::byte>> last_writes;  ///< what restore_on_exit asked for

  // What is to be reported once every thread is stopped.
  bool at_entry = false;
  bool interrupt_due = false;
  std::vector<hit> hits;  ///< the first one in front
  std::optional<detach_request> detaching;
  std::optional<attach_request> attaching;

  int group_stop = 0;              ///< the signal of the group stop that was reported
  clock::time_point held_since;    ///< phase held: when it was entered
  deadline give_up = no_deadline;  ///< of the stop or step under way
  deadline look_at_leader = no_deadline;
  std::unique_ptr<pending_launch> launch;
  bool only_for_end = false;          ///< traced to learn of its end, and for nothing else (guard.hpp)
  std::uint64_t start_time = 0;       ///< field 22 of /proc/PID/stat, from the first note to the guard on
  std::vector<std::byte> told_guard;  ///< the last note about it; empty: none, or that nothing is left
};

}  // namespace mpiacq::tracing

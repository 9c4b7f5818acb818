// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Commands of the tool that take longer than one call, with the way to answer them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/process/tracer.hpp"
#include "wire/launch_surroundings.hpp"

namespace mpiacq::tracing {

/// Sends the answer of a command to the tool. Called exactly once.
template <class T>
using reply = std::function<void(result<T>)>;

/// A launch as the tool requests it.
struct launch_order {
  launch_request request;
  launch_surroundings surroundings;
  std::vector<unique_fd> descriptors;  ///< the working directory, then what the program inherits
};

/// A program that is being started, until its exec has worked or failed.
struct pending_launch {
  unique_fd failure;  ///< the child writes errno here if exec fails
  launch_order order;
  std::vector<std::string> candidates;  ///< the paths that the child tries, in order
  bool through_shell = false;           ///< a text without an interpreter line, which /bin/sh runs as with execvp
  reply<process_id> answer;
};

/// An attach, until all threads of the process are held.
struct attach_request {
  attach_options options;
  reply<void> answer;
  deadline until = no_deadline;                  ///< a new thread that appears later makes the attach fail
  std::optional<error> failure;                  ///< the reason why the attach is undone, if it is
  std::optional<std::uint64_t> start_time = {};  ///< the start time that the process must have
  bool is_known = false;                         ///< process_folders knows the process
  std::optional<user_id> user = {};              ///< the process's effective user must be this one
  int tries_left = 3;                            ///< retries after meeting another tracer
};

/// A detach, until all threads of the process are stopped.
struct detach_request {
  leave how = leave::running;
  reply<void> answer;
  bool without_tool = false;  ///< the tool did not request the detach: the writes of restore_on_exit are made
};

}  // namespace mpiacq::tracing

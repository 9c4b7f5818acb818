// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <unistd.h>

#include "mpiacq/ranks/agents_options.hpp"
#include "remote/node_agents.hpp"

namespace mpiacq {

struct awaited_agents::state {
  state() = default;
  /// A forked child must not destroy its copy of libzmq's sockets, because their threads do not exist there.
  ~state() {
    if (::getpid() != made_in) static_cast<void>(agents.release());
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  const pid_t made_in = ::getpid();
  std::unique_ptr<agents::node_agents> agents;
  mpir::daemon_request request;
};

}  // namespace mpiacq

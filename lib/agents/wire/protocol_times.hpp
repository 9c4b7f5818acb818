// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The times on which both ends of a connection rely.
#pragma once

#include <chrono>

namespace mpiacq::agents {

/// The time between two heartbeats of a parent that waits for answers. Its children reply to each.
inline constexpr std::chrono::milliseconds between_heartbeats{500};
/// The same while no answer is owed. Children do not reply: the nodes belong to the job.
inline constexpr std::chrono::milliseconds between_idle_heartbeats{1000};
/// A host, or an agent, that is silent for longer counts as lost.
inline constexpr std::chrono::milliseconds silent_at_most{2500};
/// An agent waits for its parent's goodbye before it ends, but not longer than this after its last answer. The network
/// may be slow, or the parent busy.
inline constexpr std::chrono::seconds goodbye_limit{10};
/// But it waits for at least this long after its own goodbye.
inline constexpr std::chrono::milliseconds short_goodbye_limit{300};
/// The time for a CURVE handshake. libzmq's threads do nothing else, but a front end may have thousands of peers.
inline constexpr std::chrono::seconds handshake_limit{10};

}  // namespace mpiacq::agents

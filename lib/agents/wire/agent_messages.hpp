// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What agents and those above them say to each other (docs/agents.md).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/mpi2dd/mpi2dd_reading.hpp"
#include "mpiacq/ranks/call_tree.hpp"
#include "mpiacq/ranks/node_queues.hpp"
#include "mpiacq/ranks/node_ranks.hpp"
#include "mpiacq/ranks/rank_set.hpp"
#include "mpiacq/ranks/rank_stacks.hpp"
#include "wire/cbor.hpp"
#include "wire/loss_accounts.hpp"

namespace mpiacq::agents {

inline constexpr std::string_view schema = "mpiacq.agent/1";
/// Of one message.
inline constexpr std::size_t most_bytes = most_written;

/// A CURVE key.
using curve_key = std::array<std::byte, 32>;

/// Where somebody listens, and who that is.
struct peer_address {
  std::vector<std::string> endpoints;  ///< one is enough: they are tried in turn
  curve_key key{};
};

/// What a node is called, for whoever looks for it by the names in a process table.
struct node_names {
  std::string told;                    ///< by whoever started the agent; empty: nothing
  std::string host;                    ///< as the system has it
  std::string slurm;                   ///< the node's name in Slurm; empty: none
  std::vector<std::string> addresses;  ///< of its interfaces, without loopback
};

struct hello {
  std::string credential;    ///< MUNGE's; empty where the connection's key is the proof
  std::uint32_t number = 0;  ///< 0: it has none yet
  node_names names;
  peer_address address;  ///< where its children reach it
};

struct place {
  std::uint32_t number = 0;
  std::vector<peer_address> above;  ///< the front end first, the parent last
  std::vector<rank_process> ranks;
};

struct welcome {};
struct farewell {
  std::optional<error> why = {};  ///< the greeting was refused; else there is nothing more to do
};

struct ask_hold {};
struct ask_release {
  leave how = leave::running;
};
/// Agents search these folders of their nodes for debug files. They ask no server: a download would delay all answers.
struct ask_stacks {
  stack_options how;
  std::vector<std::string> debug_folders = debug_file_search{}.folders;
};
/// All options whose meaning does not depend on this process; paths are those of the node. `job_ranks::queues` rejects
/// what an agent cannot do.
struct ask_queues {
  rank_queue_options how;
};
struct ask_gates {
  rank_selection ranks;
  interface_kind interface = interface_kind::mpir;
  std::chrono::milliseconds limit{};
  std::vector<std::string> debug_folders = debug_file_search{}.folders;
};
/// MPI2DD processes of an agent's node.
struct agent_visits {
  std::uint32_t agent = 0;
  std::vector<mpi2dd::process_request> processes;  ///< their hosts are the node
};
/// What processes say of themselves. An agent has no ranks for that.
struct ask_visits {
  std::vector<agent_visits> of;
  table_limits limits;
  unsigned max_rereads = 0;
  std::optional<user_id> user = {};  ///< of the job, by number: processes of others are not looked at
  std::vector<std::string> debug_folders = debug_file_search{}.folders;
};
using question = std::variant<ask_hold, ask_release, ask_stacks, ask_queues, ask_visits, ask_gates>;

struct ask {
  std::uint64_t number = 0;  ///< one higher than the last
  std::uint32_t limit_ms = 0;
  question what;
};

/// Ranks and why something was not done to them.
struct refused_part {
  rank_set ranks;
  error why;
};
struct hold_part {
  rank_set held;
  std::vector<rank_hold> others;  ///< that are not held, or not quite
};
struct release_part {
  rank_set released;
  std::vector<refused_part> refused;
};
struct stacks_part {
  call_tree tree;
  rank_set taken;
  std::vector<refused_part> refused;
  clock::duration held_for{};
  std::vector<error> problems;
};
struct agent_accounts {
  std::uint32_t agent = 0;
  std::vector<account_part> said;  ///< in the order of the question
};
struct visits_part {
  std::vector<agent_accounts> of;
};
struct gates_part {
  rank_set open;     ///< these wait at no gate
  rank_set without;  ///< no gate was seen in these
  std::vector<refused_part> refused;
};
using answer_body = std::variant<hold_part, release_part, stacks_part, node_queues, visits_part, gates_part>;

/// An agent that its parent has lost, or whose answer it could not use.
struct agent_problem {
  std::uint32_t agent = 0;
  error why;
};
struct answer {
  std::uint64_t number = 0;
  rank_set agents;  ///< that it is of; empty: it only tells problems
  std::vector<agent_problem> problems;
  std::optional<answer_body> what;
};

/// Said by who has asked: what there is of the answer by now will do.
struct enough {
  std::uint64_t number = 0;  ///< of the question
};

struct alive {
  std::uint64_t done = 0;  ///< ranks, of the question that is open
  std::uint64_t all = 0;
};

using message = std::variant<hello, place, welcome, farewell, ask, answer, alive, enough>;

[[nodiscard]] std::vector<std::byte> encode(const message& what);
/// unsupported: another schema, which the message names; bad_format: where it is wrong; limit: it is too long, or its
/// groups have too many members.
[[nodiscard]] result<message> decode(std::span<const std::byte> bytes);

}  // namespace mpiacq::agents

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The messages between the front end and its agents, and between an agent and its children.
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
#include "mpiacq/job/job_description.hpp"
#include "mpiacq/mpi2dd/mpi2dd_reading.hpp"
#include "rank_questions.hpp"
#include "wire/cbor.hpp"
#include "wire/process_accounts.hpp"

namespace mpiacq::agents {

/// Names the protocol and its version. Every message carries it.
inline constexpr std::string_view schema = "mpiacq.agent/6";
/// The size of the largest message, in bytes.
inline constexpr std::size_t most_bytes = most_written;

/// A CURVE key.
using curve_key = std::array<std::byte, 32>;

/// The addresses at which a front end or an agent listens, and its public key.
struct peer_address {
  std::vector<std::string> endpoints;  ///< tried in this order until one can be reached
  curve_key key{};
};

/// The names under which a process table may list this node.
struct node_names {
  std::string given;                   ///< the name in `agent_order::node`; empty: none
  std::string host;                    ///< the host name of the system
  std::string slurm;                   ///< the node's name in Slurm; empty: none
  std::vector<std::string> addresses;  ///< the addresses of its interfaces, without loopback
};

/// From a child: its greeting.
struct hello {
  std::string credential;    ///< MUNGE's; empty if the key of the connection is the proof
  std::uint32_t number = 0;  ///< 0: the agent has no assignment yet
  node_names names;
  peer_address address;  ///< where the agent's own children reach it
};

/// From the front end: the agent's number, its path to the front end, and its ranks.
struct assignment {
  std::uint32_t number = 0;
  std::vector<peer_address> above;  ///< the front end first, the parent last
  std::vector<rank_process> ranks;
};

/// From a parent: it has accepted the child.
struct welcome {};
/// From either side: this connection has ended.
struct goodbye {
  std::optional<error> why = {};  ///< set if the greeting was refused
};

using mpiacq::ask_cores;
using mpiacq::ask_ends;
using mpiacq::ask_follow;
using mpiacq::ask_gates;
using mpiacq::ask_hold;
using mpiacq::ask_queues;
using mpiacq::ask_release;
using mpiacq::ask_stacks;
/// MPI2DD processes of an agent's node.
struct agent_visits {
  std::uint32_t agent = 0;
  std::vector<mpi2dd::process_request> processes;  ///< their host is the agent's node
};
/// Asks agents to read info blocks and tables of MPI2DD processes. The agents need no ranks for this.
struct ask_visits {
  std::vector<agent_visits> of;
  table_limits limits;
  unsigned max_rereads = 0;
  std::optional<user_id> user = {};  ///< the job's user; agents read no process of another user
  std::vector<std::string> debug_folders = debug_file_search{}.folders;
};
/// Asks agents for the ranks of a job that the environment shows. The agents need no ranks for this.
struct ask_job_ranks {
  std::uint32_t agent = 0;        ///< the agent that answers
  std::vector<std::string> keys;  ///< of the job's worlds, in hexadecimal digits (environment_world::key)
};
using question = std::variant<ask_hold, ask_release, ask_stacks, ask_queues, ask_visits, ask_gates, ask_job_ranks,
                              ask_follow, ask_ends, ask_cores>;

/// From a parent: a question. Numbers ascend from 1.
struct ask {
  std::uint64_t number = 0;
  std::uint32_t limit_ms = 0;  ///< the time in which the answer must reach the parent
  question what;
};

using mpiacq::hold_part;
using mpiacq::release_part;
struct agent_accounts {
  std::uint32_t agent = 0;
  std::vector<account_part> said;  ///< one for each process, in the order of the question
};
struct visits_part {
  std::vector<agent_accounts> of;
};
/// A rank on an agent's node.
struct job_rank {
  std::uint32_t world = 0;  ///< the place of its key in the question
  std::uint32_t rank = 0;
  process_id pid;
  std::string executable;  ///< empty if it cannot be read
};
struct agent_job_ranks {
  std::uint32_t agent = 0;
  std::vector<job_rank> ranks;
  std::uint64_t left_out = 0;  ///< so many ranks do not fit into a message
};
struct job_ranks_part {
  std::vector<agent_job_ranks> of;
};
using answer_body = std::variant<hold_part, release_part, group_stacks, group_queues, visits_part, opened_gates,
                                 job_ranks_part, group_ends, rank_cores>;

/// An agent that its parent has lost, or whose answer the parent could not use.
struct agent_problem {
  std::uint32_t agent = 0;
  error why;
};
/// From a child: its own answer merged with those of the agents below it, as far as they have arrived.
struct answer {
  std::uint64_t number = 0;  ///< of the question
  rank_set agents;           ///< the agents whose answers it contains; empty: it reports problems only
  std::vector<agent_problem> problems;
  std::optional<answer_body> what;
};

/// From a parent: the child must answer with its results so far.
struct finish_early {
  std::uint64_t number = 0;  ///< of the question
};

/// From a parent: the parent is alive. From a child that owes an answer: the child is alive, and has made this
/// progress.
struct heartbeat {
  std::uint64_t done = 0;  ///< ranks that the child and the agents below it have finished for the open question
  std::uint64_t all = 0;   ///< the number of their ranks
};

using message = std::variant<hello, assignment, welcome, goodbye, ask, answer, heartbeat, finish_early>;

/// `beat`: called now and then while a long message is written, or read.
[[nodiscard]] std::vector<std::byte> encode(const message& what, const pulse& beat = {});
/// unsupported: another schema, which the error names; bad_format: with the byte where the message is wrong; limit: the
/// message is too long, or its groups have too many members.
[[nodiscard]] result<message> decode(std::span<const std::byte> bytes, const pulse& beat = {});

}  // namespace mpiacq::agents

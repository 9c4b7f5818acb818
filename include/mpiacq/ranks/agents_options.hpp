// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// How agents on other nodes are started (docs/agents.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/mpir/mpir_daemons.hpp"

namespace mpiacq {

struct job_description;

/// What starts an agent on each node (docs/agents.md).
enum class agent_start : std::uint8_t {
  /// mpir if the starter can launch daemons, then slurm if the job has a Slurm id, then ssh, then pmix if the starter
  /// is
  /// a PMIx server
  automatic,
  mpir,   ///< the job's starter launches them as tool daemons (MPIR 1.1, 7.1 and 7.2)
  pmix,   ///< the job's PMIx server starts them as debugger daemons (PMIx Standard 4.1, 18.4)
  slurm,  ///< srun --overlap starts a step of the job with one task on each node
  ssh,    ///< ssh with the user's configuration, without any question to the user
  none,   ///< no agents: ranks of other nodes are not reached
};
/// "automatic", "mpir", "pmix", "slurm", "ssh", "none"
[[nodiscard]] std::string_view name(agent_start start);

/// How many agents have arrived.
struct agents_progress {
  std::size_t wanted = 0;   ///< the number of nodes that need an agent
  std::size_t arrived = 0;  ///< the number of agents that have arrived
  bool over = false;        ///< the wait has ended; no other agent is expected
};

/// How the agents of a group are started and used.
struct agents_options {
  agent_start start = agent_start::automatic;
  /// Start an agent on this node too. Otherwise this process examines the ranks of its node itself.
  bool everywhere = false;
  std::uint32_t fan_out = 32;  ///< the most agents that are connected to one agent; at least 2
  /// The path of the agent program, the same on every node. Empty: the one that is installed with the library.
  std::string program;
  /// The id of the Slurm job. Empty: the one in the job's description (mpir::job_facts) or in its starter's
  /// environment.
  std::string job_id;
  /// The job's starter, if it is on this node, can launch daemons (mpir::job_facts), and has no tracer. `mpir` attaches
  /// to it until the agents have arrived, which takes some milliseconds, and leaves it as it was. Empty: `mpir` is not
  /// tried.
  std::optional<process_id> starter;
  /// The job's starter, if it is on this node and is a PMIx server (Open MPI 5, PRRTE). `pmix` asks it to start agents,
  /// without stopping it. Empty: `pmix` is not tried.
  std::optional<process_id> pmix_server = {};
  /// The user whose process names the job's hosts; empty: process_table::user. If this program runs as root for another
  /// user's job, `automatic` does not run ssh, because that user could choose where root connects to. If the table has
  /// no user either, the caller guarantees that the hosts are right.
  std::optional<user_id> user;
  /// How long to wait for the agents to arrive. With more than 1,024 nodes the time is longer in proportion.
  std::chrono::milliseconds start_limit{30'000};
  std::chrono::milliseconds answer_limit{60'000};  ///< how long to wait for the answers to one question
  /// The longest life of an agent, in case nothing else ends it. At least a second.
  std::chrono::seconds agents_live = std::chrono::hours(7 * 24);
  /// The folder of the file with the secret, for systems without munged (docs/agents.md); empty: the user's home
  /// directory.
  std::string secret_folder;
  std::string munge_socket;  ///< the socket of munged; empty: the system's
  /// A descriptor that cancels once it is readable: the wait for agents ends, and the wait for answers ends after two
  /// seconds. Agents that read queues release their ranks at once and answer with what they have read. -1: none.
  int stop = -1;
  /// Called on the caller's thread whenever an agent arrives. Empty: nothing is called.
  std::function<void(const agents_progress&)> progress = {};
};

/// Agents that a starter launches as its daemons, while the caller launches the starter or attaches to it.
///
///   auto agents = mpiacq::awaited_agents::open(options);
///   how.daemons = agents->request();
///   auto job = mpiacq::job::launch(command, how);  // wait for job_spawned, then
///   auto ranks = (*job)->description().ranks({}, std::move(*agents));
///
/// All agents end with this object, or with the group that receives it.
/// Thread: one at a time.
class awaited_agents {
 public:
  /// Listens for agents. Errors: not_found (the agent program), permission, system.
  [[nodiscard]] static result<awaited_agents> open(const agents_options& options);
  ~awaited_agents();
  awaited_agents(awaited_agents&&) noexcept;
  awaited_agents& operator=(awaited_agents&&) noexcept;

  /// The request for `job_options::daemons`. If the starter refuses it, `job_facts::daemons` is `refused`; then no
  /// agents come, and the caller does not wait for them.
  [[nodiscard]] const mpir::daemon_request& request() const;
  /// Ends the agents of `nodes` nodes as they arrive, within a second, and accepts no others: the caller needs none.
  void send_away(std::size_t nodes);

 private:
  friend struct job_description;  // gives them to the group that it makes
  struct state;
  explicit awaited_agents(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/process_table.hpp"
#include "mpiacq/mpir/mpir_daemons.hpp"
#include "mpiacq/ranks/call_tree.hpp"
#include "mpiacq/ranks/node_queues.hpp"
#include "mpiacq/ranks/node_ranks.hpp"
#include "mpiacq/ranks/rank_gates.hpp"
#include "mpiacq/ranks/rank_selection.hpp"
#include "mpiacq/ranks/rank_set.hpp"
#include "mpiacq/ranks/rank_stacks.hpp"

namespace mpiacq {

class job;

/// What starts an agent on each node (docs/agents.md).
enum class agent_start : std::uint8_t {
  automatic,  ///< mpir where that can be, then slurm where the job has a Slurm job id, then ssh, until agents come
  mpir,       ///< the job's starter, as its tool daemons (MPIR 1.1, 7.1 and 7.2)
  slurm,      ///< a step of the job's own, one task a node (srun --overlap)
  ssh,        ///< with the user's own configuration, without asking for anything
  none,       ///< nobody: ranks of other nodes are not reached
};
/// "automatic", "mpir", "slurm", "ssh", "none"
[[nodiscard]] std::string_view name(agent_start start);

/// How far the agents have come up.
struct agents_progress {
  std::size_t wanted = 0;
  std::size_t arrived = 0;
  bool over = false;  ///< nobody is waited for any more
};

/// How agents are started and used.
struct agents_options {
  agent_start start = agent_start::automatic;
  /// An agent for every node, this one too. Else this process looks after the ranks that are here.
  bool everywhere = false;
  std::uint32_t fan_out = 32;  ///< how many agents answer to one; at least 2
  /// The agent's file, the same path on every node. Empty: the one that is installed beside the library.
  std::string program;
  std::string job_id;  ///< Slurm's (mpir::job_facts); empty: no step can be started
  /// The job's starter, on this node, where it can launch daemons (mpir::job_facts) and nobody traces it: `mpir`
  /// attaches to it until they have come, some milliseconds, and leaves it as it was. Empty: it is not asked.
  std::optional<process_id> starter;
  /// Whose process names the job's hosts; `job_ranks` takes it from the process table (process_table::user). Where this
  /// program runs as root and that is another user, `automatic` does not run ssh: root's connections would go wherever
  /// that user likes. Empty: the caller vouches for the hosts.
  std::optional<user_id> user;
  /// Until an agent has to be there; for more than 1,024 nodes in proportion longer.
  std::chrono::milliseconds start_limit{30'000};
  std::chrono::milliseconds answer_limit{60'000};  ///< until all have to have answered a question
  /// An agent ends after that, whatever happens: when nothing else has ended it. At least a second.
  std::chrono::seconds agents_live = std::chrono::hours(7 * 24);
  /// Where the secret stands when there is no munged (docs/agents.md); empty: the user's home directory.
  std::string secret_folder;
  std::string munge_socket;  ///< of a munged that is not at the system's place
  /// A descriptor of the caller's: once it can be read, agents are not waited for any longer, and answers for two
  /// seconds at most. Agents that read queues let their ranks go at once, and what they have read by then is their
  /// answer; other looks take no longer than that by themselves, mostly. -1: none.
  int stop = -1;
  /// Told on the caller's thread. Empty: nobody asks.
  std::function<void(const agents_progress&)> progress = {};
};

/// Agents that come by themselves: as the daemons of a starter that is launched, or attached to by the caller.
///
///   auto agents = mpiacq::awaited_agents::open(options);
///   how.daemons = agents->request();
///   auto job = mpiacq::job::launch(command, how);  // until job_spawned, then
///   auto ranks = mpiacq::job_ranks::create(*job->processes(), {}, options, std::move(*agents));
///
/// Where nobody looks at the ranks any more, or ever does, all that have come end.
/// Thread: one at a time.
class awaited_agents {
 public:
  /// Listens from now on. Errors: not_found (the agent's file), permission, system.
  [[nodiscard]] static result<awaited_agents> open(const agents_options& options);
  ~awaited_agents();
  awaited_agents(awaited_agents&&) noexcept;
  awaited_agents& operator=(awaited_agents&&) noexcept;

  /// What the starter is to be asked for. A starter that cannot be is no problem: `job_facts::daemons` is `refused`
  /// then, and these agents are not to be waited for.
  [[nodiscard]] const mpir::daemon_request& request() const;
  /// Nobody needs them: those of so many nodes end as they come, within a second, and none is let in any more.
  void send_away(std::size_t nodes);

 private:
  friend class job_ranks;
  struct state;
  explicit awaited_agents(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

/// How the ranks of all nodes are looked after.
struct job_ranks_options {
  node_ranks_options node;
  agents_options agents;
};

/// One node of a job, as its process table names it.
struct job_node {
  std::string host;
  rank_set ranks;            ///< of those that were selected
  bool local = false;        ///< looked after by this process itself
  std::optional<error> why;  ///< empty: it is reached. Else why not, or since when not any more
};

/// Ranks that one reason keeps from being looked at.
struct refused_ranks {
  rank_set ranks;
  error why;
};

/// The stacks of a job's ranks at one moment, merged where they were taken.
struct job_stacks {
  call_tree tree;
  rank_set taken;
  std::vector<refused_ranks> refused;  ///< every other rank that was asked for
  clock::duration held_for{};          ///< the longest of all nodes
  std::vector<error> problems;         ///< with files of names, with the node that has it
};

/// What became of gates on other nodes.
struct opened_gates {
  rank_set open;                       ///< these ranks wait at no gate
  rank_set without;                    ///< no gate was seen in these
  std::vector<refused_ranks> refused;  ///< every other rank of another node that was asked for
};

/// The same of one node's stacks.
[[nodiscard]] job_stacks merged(node_stacks&& taken);

/// A job's ranks on all nodes as one object, with the calls of `node_ranks`: those of this node are looked after here,
/// those of others by an agent on each. Agents form a tree in which answers are merged on their way.
///
///   auto ranks = mpiacq::job_ranks::create(*job.processes, {}, options);
///   for (const auto& node : (*ranks)->nodes())
///     if (node.why) complain(node.host, *node.why);
///   const auto stacks = (*ranks)->stacks();
///
/// An agent that does not come, or is lost, costs its own ranks and no others: each has its reason in every answer.
/// When this object ends, however it does, all agents end and leave their ranks as they found them.
///
/// Thread: one at a time.
class job_ranks {
 public:
  /// Starts agents and waits for them, `start_limit` at most. Errors: as `node_ranks::create`. A node that is not
  /// reached is no error but has its reason in `nodes`, also where that keeps all of them from being reached. Where
  /// there are too many for this process's soft limit of descriptors, that is raised until the object goes.
  [[nodiscard]] static result<std::unique_ptr<job_ranks>> create(const process_table& table,
                                                                 const rank_selection& selection = {},
                                                                 const job_ranks_options& options = {});
  /// The same with agents that come as the starter's daemons. Where none does, what `options` say beside `mpir` is
  /// tried.
  [[nodiscard]] static result<std::unique_ptr<job_ranks>> create(const process_table& table,
                                                                 const rank_selection& selection,
                                                                 const job_ranks_options& options,
                                                                 awaited_agents&& coming);
  /// The same of a job that is under control and has its table: ranks of this node are looked into by the job itself
  /// (`job::look_into`), since nobody else may trace those that it follows. `everywhere` means nothing here. To be gone
  /// before the job is. Errors: as `job::look_into`, too.
  [[nodiscard]] static result<std::unique_ptr<job_ranks>> create(job& subject, const rank_selection& selection,
                                                                 const job_ranks_options& options);
  /// Ends the agents; what is held is released, running.
  ~job_ranks();
  job_ranks(const job_ranks&) = delete;
  job_ranks& operator=(const job_ranks&) = delete;

  /// By their lowest ranks.
  [[nodiscard]] std::span<const job_node> nodes() const;
  /// All that were selected, in order.
  [[nodiscard]] std::span<const rank_process> ranks() const;

  /// As `node_ranks::hold`, on all nodes. failed: nobody reaches its node, `why` says for what reason.
  [[nodiscard]] std::vector<rank_hold> hold();
  /// As `node_ranks::release`. A node that cannot be reached any more has let its ranks go by itself.
  std::vector<result<void>> release(leave how = leave::running);
  /// As `node_ranks::stacks`, on all nodes.
  [[nodiscard]] job_stacks stacks(const stack_options& options = {});
  /// Opens the gates of ranks that agents look after (`job::gates_elsewhere`); `stop` is not used,
  /// `agents_options::stop` is. Those of this node are the job's to open.
  [[nodiscard]] opened_gates open_gates(const gate_options& options);
  /// As `node_ranks::queues`. Agents get the same options; paths are those of their nodes, `starter` is for the ranks
  /// of this node, and no agent asks a debuginfod server. With `queue_isolation::in_process` the ranks of other nodes
  /// are refused (unsupported). `host.stop` is for the ranks of this node, `agents_options::stop` for all others; the
  /// agents' own progress is told once the ranks that are here have been read.
  [[nodiscard]] node_queues queues(const rank_queue_options& options = {});
  /// Gives away who looks after the ranks of this node, with what has been learnt of them; nothing more can be asked of
  /// this object.
  [[nodiscard]] std::unique_ptr<node_ranks> take_local();

 private:
  struct state;
  explicit job_ranks(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq

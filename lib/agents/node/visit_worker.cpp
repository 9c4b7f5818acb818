// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "node/visit_worker.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "mpiacq/job/job_graph.hpp"
#include "wire/visit_documents.hpp"

namespace mpiacq::agents {

namespace {

/// Bounds the answer of one agent, because other answers are merged with it on the way to the root.
constexpr std::size_t most_bytes_of_one = most_bytes / 4;

/// The account, or a failure if its tables do not fit into the bytes that are left.
account_part bounded(account_part said, std::size_t& left) {
  document_writer writer;
  writer.put(said);
  if (writer.size() <= left) {
    left -= writer.size();
    return said;
  }
  account_part none;
  none.failure = error{error_code::limit, "its tables are longer than a message between nodes may be"};
  return none;
}

}  // namespace

question own_part(const question& what, std::uint32_t agent) {
  if (const auto* ranks = std::get_if<ask_job_ranks>(&what)) return ask_job_ranks{agent, ranks->keys};
  const auto* visits = std::get_if<ask_visits>(&what);
  if (visits == nullptr) return what;
  ask_visits own{{}, visits->limits, visits->max_rereads, visits->user, visits->debug_folders};
  std::copy_if(visits->of.begin(), visits->of.end(), std::back_inserter(own.of),
               [agent](const agent_visits& one) { return one.agent == agent; });
  return own;
}

visits_part answer_to(const ask_visits& what) {
  graph_options how;
  how.debug_files.folders = what.debug_folders;
  how.debug_files.debuginfod = false;  // a download would delay all answers
  how.walk.limits.table = what.limits;
  how.walk.limits.max_rereads = what.max_rereads;
  how.user = what.user;
  visits_part part;
  std::size_t left = most_bytes_of_one;
  for (const agent_visits& one : what.of) {
    agent_accounts& here = part.of.emplace_back();
    here.agent = one.agent;
    for (const mpi2dd::process_account& said : read_processes_here(one.processes, how))
      here.said.push_back(bounded(part_of(said), left));
  }
  return part;
}

}  // namespace mpiacq::agents

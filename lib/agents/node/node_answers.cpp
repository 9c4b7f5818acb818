// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "node/node_answers.hpp"

#include <memory>
#include <utility>

#include "mpiacq/ranks/job_ranks.hpp"
#include "mpiacq/ranks/node_ranks.hpp"
#include "mpiacq/ranks/rank_gates.hpp"
#include "node/visit_worker.hpp"

namespace mpiacq::agents {

namespace {

/// What looking into ranks needs beside the question.
struct looking {
  const answer_terms& terms;
  const std::string& queue_host;
};

answer_body answer_to(node_ranks& ranks, const ask_hold&, const looking&) {
  hold_part part;
  for (rank_hold& rank : ranks.hold()) {
    if (rank.state == hold_state::held) part.held.add(rank.rank);
    if (rank.state != hold_state::held || rank.why) part.others.push_back(std::move(rank));
  }
  return part;
}

answer_body answer_to(node_ranks& ranks, const ask_release& what, const looking&) {
  release_part part;
  const auto outcomes = ranks.release(what.how);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const std::uint32_t rank = ranks.ranks()[i].rank;
    if (outcomes[i]) {
      part.released.add(rank);
    } else {
      part.refused.push_back({rank_set(rank), outcomes[i].error()});
    }
  }
  return part;
}

debug_file_search search_in(const std::vector<std::string>& folders) {
  debug_file_search search;
  search.folders = folders;
  search.debuginfod = false;  // a download would delay all answers
  return search;
}

answer_body answer_to(node_ranks& ranks, const ask_stacks& what, const looking&) {
  ranks.set_debug_files(search_in(what.debug_folders));
  job_stacks seen = merged(ranks.stacks(what.how));
  stacks_part part{std::move(seen.tree), std::move(seen.taken), {}, seen.held_for, std::move(seen.problems)};
  for (refused_ranks& refused : seen.refused)
    part.refused.push_back({std::move(refused.ranks), std::move(refused.why)});
  return part;
}

answer_body answer_to(node_ranks& ranks, const ask_queues& what, const looking& how_to) {
  rank_queue_options how = what.how;
  how.types.debug_files.debuginfod = false;
  how.host.stop = how_to.terms.stop;
  how.progress = how_to.terms.progress;
  how.host.helper = how_to.queue_host;
  return ranks.queues(how);
}

answer_body answer_to(node_ranks& ranks, const ask_gates& what, const looking& how_to) {
  ranks.set_debug_files(search_in(what.debug_folders));
  gates_part part;
  const auto outcomes = ranks.open_gates({what.ranks, what.interface, what.limit, how_to.terms.stop});
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const std::uint32_t rank = ranks.ranks()[i].rank;
    if (!outcomes[i]) {
      part.refused.push_back({rank_set(rank), outcomes[i].error()});
    } else {
      (*outcomes[i] ? part.open : part.without).add(rank);
    }
  }
  return part;
}

answer_body refuse(const std::vector<rank_process>& ranks, const ask_hold&, const error& why) {
  hold_part part;
  for (const rank_process& rank : ranks) part.others.push_back({rank.rank, rank.pid, hold_state::failed, why});
  return part;
}

refused_part all_refused(const std::vector<rank_process>& ranks, const rank_selection& which, const error& why) {
  refused_part refused{{}, why};
  for (const rank_process& rank : ranks) {
    if (which.contains(rank.rank)) refused.ranks.add(rank.rank);
  }
  return refused;
}

answer_body refuse(const std::vector<rank_process>& ranks, const ask_release&, const error&) {
  // Nobody holds them.
  return release_part{all_refused(ranks, {}, {}).ranks, {}};
}

answer_body refuse(const std::vector<rank_process>& ranks, const ask_stacks& what, const error& why) {
  stacks_part part;
  part.refused.push_back(all_refused(ranks, what.how.ranks, why));
  return part;
}

answer_body refuse(const std::vector<rank_process>& ranks, const ask_gates& what, const error& why) {
  return gates_part{{}, {}, {all_refused(ranks, what.ranks, why)}};
}

answer_body refuse(const std::vector<rank_process>& ranks, const ask_queues& what, const error& why) {
  node_queues part;
  for (const rank_process& rank : ranks) {
    if (!what.how.ranks.contains(rank.rank)) continue;
    part.ranks.push_back({rank.rank, rank.pid, fail(why)});
    part.doing.emplace_back();
    part.pml.emplace_back();
  }
  return part;
}

answer_body answer_to(node_ranks&, const ask_visits& what, const looking&) {
  return answer_to(what);
}

/// They are no ranks of anybody's.
answer_body refuse(const std::vector<rank_process>&, const ask_visits& what, const error&) {
  return answer_to(what);
}

/// Made of what `node_ranks` gives.
answer_body answer_of(node_ranks& ranks, const question& what, const answer_terms& terms,
                      const std::string& queue_host) {
  return std::visit([&](const auto& asked) { return answer_to(ranks, asked, {terms, queue_host}); }, what);
}

/// Where there is no `node_ranks`: the same error for each.
answer_body refusal_of(const std::vector<rank_process>& ranks, const question& what, const error& why) {
  return std::visit([&](const auto& asked) { return refuse(ranks, asked, why); }, what);
}

}  // namespace

answerer node_answers(std::vector<rank_process> ranks, const agent_programs& programs) {
  // Nothing is to be held then, and no process is started that could.
  if (ranks.empty()) return [](const question& what, const answer_terms&) { return refusal_of({}, what, {}); };
  node_ranks_options options;
  options.tracing.tracing_program = programs.tracer;
  options.debug_files.debuginfod = false;  // a download would hold up whoever asked
  auto made = node_ranks::create(ranks, options);
  if (!made) {
    return [ranks = std::move(ranks), why = std::move(made).error()](const question& what, const answer_terms&) {
      return refusal_of(ranks, what, why);
    };
  }
  return [node = std::shared_ptr<node_ranks>(std::move(*made)), host = programs.queue_host](
             const question& what, const answer_terms& terms) { return answer_of(*node, what, terms, host); };
}

}  // namespace mpiacq::agents

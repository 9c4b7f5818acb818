// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/gates_elsewhere.hpp"

#include <fmt/format.h>

#include "mpiacq/ranks/rank_options.hpp"

namespace mpiacq::tool {

namespace {

std::string named_ranks(const job& subject, const rank_set& ranks) {
  return fmt::format("{} {}", ranks.count() == 1 ? "rank" : "ranks", subject.processes()->names().text(ranks));
}

error gates_stay_closed(const job& subject, const rank_set& far) {
  const bool one = far.count() == 1;
  return {error_code::unsupported,
          fmt::format("{} {} on {}, and the starter does not release its ranks itself (it has no "
                      "MPIR_partial_attach_ok): if {} at MPIR_debug_gate, {} for ever. With --agents ssh, slurm or "
                      "mpir, agents let {} go; so does a debugger on {} that sets MPIR_debug_gate to 1",
                      named_ranks(subject, far), one ? "is" : "are", one ? "another node" : "other nodes",
                      one ? "it waits" : "they wait", one ? "it waits" : "they wait", one ? "it" : "them",
                      one ? "its node" : "their nodes")};
}

}  // namespace

gates_elsewhere::gates_elsewhere(job& subject, agents_of_job& agents, job_reporter& reporter)
    : job_(subject), agents_(agents), reporter_(reporter), far_(subject.gates_elsewhere()) {
  const bool is_mpi2dd = subject.interface() == interface_kind::mpi2dd;
  if (!far_.empty() && agents.open_gates()) nodes_ = agents.ranks(subject, far_);
  if (nodes_) return;
  agents.leave();
  if (is_mpi2dd) {
    subject.nobody_opens_gates_elsewhere();
  } else if (!far_.empty()) {
    reporter.problem(gates_stay_closed(subject, far_));
  }
}

void gates_elsewhere::open() {
  if (!nodes_) return;
  gate_options how;
  how.interface = job_.interface();
  how.ranks = rank_selection::parse(far_.text()).value_or(rank_selection{});
  const opened_gates seen = nodes_->open_gates(how);
  for (const refused_ranks& refused : seen.refused) {
    reporter_.problem(error{refused.why}.while_doing(
        fmt::format("letting {} go on at the gate of its MPI initialisation", named_ranks(job_, refused.ranks))));
  }
  if (!seen.without.empty()) {
    reporter_.problem({error_code::not_found, fmt::format("no gate was seen in {} within {} s",
                                                          named_ranks(job_, seen.without), how.limit.count() / 1000)});
  }
  nodes_.reset();
  agents_.leave();
}

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the judges of MPI2DD have in common.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "judges/judging.hpp"

namespace mpiacq::check {

/// Why nothing can be said of the job's tables; empty where its graph was seen.
[[nodiscard]] inline std::optional<finding> no_graph(const observations& o) {
  if (!o.mpi2dd.info) return not_applicable("MPI2DD_info is not defined");
  if (o.mpi2dd.job) return std::nullopt;
  if (!o.mpi2dd.job_problem.empty()) return not_applicable("the job could not be walked: {}", o.mpi2dd.job_problem);
  return not_applicable("no event of MPI2DD was seen, and so no tables");
}

/// "process 4242 on n1"
[[nodiscard]] inline std::string title_of(const mpi2dd::graph& graph, mpi2dd::process_number p) {
  return fmt::format("process {} on {}", graph.pid(p).value(), graph.host(p).value_or("an unknown host"));
}

/// The first process that was read for which `wrong` has a sentence, and how many more there are; empty for none.
[[nodiscard]] inline std::string first_wrong(const mpi2dd::graph& graph,
                                             const std::function<std::string(const mpi2dd::visit&)>& wrong) {
  std::string text;
  std::size_t more = 0;
  for (const mpi2dd::visit& v : graph.visits()) {
    if (v.state != mpi2dd::visit_state::read) continue;
    const std::string sentence = wrong(v);
    if (sentence.empty()) continue;
    if (text.empty()) {
      text = title_of(graph, v.process) + ": " + sentence;
    } else {
      ++more;
    }
  }
  return more == 0 ? text : text + fmt::format(", and {} more", more);
}

}  // namespace mpiacq::check

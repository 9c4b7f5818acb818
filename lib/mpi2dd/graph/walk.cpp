// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "graph/graph_state.hpp"
#include "graph/reading_pool.hpp"
#include "graph/remote_readings.hpp"

namespace mpiacq::mpi2dd {

namespace {

/// The walk over the processes that have not been opened yet. It merges readings into the graph in the order in which
/// processes were found, independent of the speed of the threads.
class walking {
 public:
  walking(graph_state& g, const opener& open, const walk_options& options)
      : g_(g), options_(options), pool_(open, options.limits, options.threads), far_(options) {}

  /// Adds a process to be read for the first time. The processes that it names are added behind it.
  void want(std::uint32_t process, unsigned depth) {
    if (!g_.has(process, graph_state::identified) || g_.visit_numbers.contains(process)) return;
    if (g_.visits.size() >= options_.limits.max_opened) {
      ++g_.left_unopened;
      return;
    }
    const auto number = static_cast<std::uint32_t>(g_.visits.size());
    g_.visit_numbers.emplace(process, number);
    visit& v = g_.visits.emplace_back();
    v.process = process_number{process};
    v.depth = depth;
    if (depth > options_.limits.max_depth) {
      v.state = visit_state::beyond_limit;
      v.failure = error{error_code::limit, fmt::format("it is more than {} steps away from where the walk began "
                                                       "(walk_limits::max_depth): not opened",
                                                       options_.limits.max_depth)};
      return;
    }
    add(number, {});
  }

  /// Adds a visited process to be read again.
  void add(std::uint32_t visit_number, const table_selection& tables) {
    const std::uint32_t process = index(g_.visits[visit_number].process);
    process_request asked{std::string{g_.strings[g_.hosts[process]]}, process_id{g_.pids[process]}, {}, tables};
    if (g_.executables[process] != none) asked.executable = g_.strings[g_.executables[process]];
    const bool elsewhere = far_.reads(asked.host);
    pending_.push_back({visit_number, tables, elsewhere});
    elsewhere ? far_.add(std::move(asked)) : pool_.add(std::move(asked));
  }

  void walk() {
    for (std::size_t next = 0; next < pending_.size(); ++next) {
      const auto [number, tables, elsewhere] = pending_[next];
      const unsigned depth = g_.visits[number].depth;
      const merging::found_process found = [&](std::uint32_t process) { want(process, depth + 1); };
      merging(g_, options_, found).merge(number, tables, elsewhere ? far_.take() : pool_.take());
    }
    g_.resolve_parents();
  }

 private:
  struct step {
    std::uint32_t visit_number = 0;
    table_selection tables;
    bool elsewhere = false;
  };
  graph_state& g_;
  const walk_options& options_;
  reading_pool pool_;
  remote_readings far_;
  std::vector<step> pending_;
};

}  // namespace

result<graph> walk(const walk_start& start, const opener& open, const walk_options& options) {
  if (!open) return fail(error_code::invalid_argument, "a walk needs a function that opens processes");
  if (start.pid.value() <= 0 || start.pid.value() > INT32_MAX) {
    return fail(error_code::invalid_argument,
                fmt::format("a walk cannot begin at {}, which is no process id", start.pid.value()));
  }
  auto g = std::make_unique<graph_state>();
  const std::uint32_t host = g->host_number(start.host, options);
  const std::uint32_t first = g->process(host, static_cast<std::int32_t>(start.pid.value()));
  if (!start.executable.empty()) g->executables[first] = g->strings.number(start.executable);
  walking w(*g, open, options);
  w.want(first, 0);
  w.walk();
  return graph_access::graph_of(std::move(g));
}

result<void> refresh(graph& g, process_number process, const table_selection& tables, const opener& open,
                     const walk_options& options) {
  if (!open) return fail(error_code::invalid_argument, "a walk needs a function that opens processes");
  graph_state& s = graph_access::state_of(g);
  if (index(process) >= s.size() || !s.has(index(process), graph_state::identified)) {
    return fail(error_code::invalid_argument, fmt::format("process {} of the graph cannot be opened", index(process)));
  }
  walking w(s, open, options);
  const auto known = s.visit_numbers.find(index(process));
  if (known == s.visit_numbers.end()) {
    w.want(index(process), 1);  // a rank that has become a directory or a metadirectory
  } else {
    w.add(known->second, tables);
  }
  w.walk();
  return {};
}

}  // namespace mpiacq::mpi2dd

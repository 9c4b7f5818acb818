// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/call_chains.hpp"
#include "report/graph_report.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

using namespace mpi2dd;

constexpr std::size_t hosts_in_label = 3;
constexpr std::string_view legend =
    "gray: lists    gray, thick: know each other    blue: has spawned\\n"
    "thick frame: walked from here    red: cannot be looked at, or is not as it should be";

/// The text, escaped for double quotes.
std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') safe += '\\';
    safe += c;
  }
  return safe;
}

class dot_writer {
 public:
  explicit dot_writer(const graph& graph)
      : graph_(graph), ranks_(ranks_of_worlds(graph)), members_(graph.worlds().size()) {
    for (std::uint32_t i = 0; i < graph.process_count(); ++i) {
      const auto world = graph.world_of(process_number{i});
      if (world) members_[index(*world)].push_back(process_number{i});
    }
  }

  [[nodiscard]] std::string write() {
    text_ =
        "digraph mpi2dd {\n"
        "  node [fontname=Helvetica, fontsize=11, style=filled, fillcolor=white];\n"
        "  edge [fontname=Helvetica, fontsize=10, color=gray30, fontcolor=gray30];\n"
        "  fontname=Helvetica;\n  fontsize=11;\n  labelloc=b;\n  nodesep=0.35;\n";
    text_ += fmt::format("  label=\"\\n{}\\n{}\";\n", escaped(extent_of(graph_)), legend);
    for (std::uint32_t i = 0; i < graph_.worlds().size(); ++i) write_world(world_number{i});
    for (const visit& v : graph_.visits()) {
      if (has_own_place(graph_, v)) write_process(v);
    }
    for (const visit& v : graph_.visits()) write_edges(v);
    for (const visit& v : graph_.visits()) write_way_up(v);
    write_spawns();
    return std::move(text_) + "}\n";
  }

 private:
  void write_world(world_number number) {
    const world& w = graph_.worlds()[index(number)];
    text_ +=
        fmt::format("  w{} [label=\"world {}\\n{}\\n{}\", shape=box, style=\"filled,rounded\", fillcolor=lightblue];\n",
                    index(number), escaped(w.id), ranks_words(ranks_[index(number)]),
                    escaped(places_of(graph_, members_[index(number)], hosts_in_label)));
  }

  /// The first role decides the shape.
  [[nodiscard]] static std::string_view shape_of(const std::vector<std::string>& roles) {
    if (roles.empty() || roles.front() == "rank") return "ellipse";
    if (roles.front() == "metadirectory") return "box3d";
    return roles.front() == "starter" ? "component" : "folder";
  }

  void write_process(const visit& v) {
    auto roles = roles_of(graph_, v);
    const std::string_view shape = shape_of(roles);
    if (!roles.empty() && roles.back() == "rank") roles.back() += " " + rank_name(graph_, v.process);
    const std::string host(graph_.host(v.process).value_or(""));
    std::string label = fmt::format("{}\\n{} on {}", escaped(fmt::format("{}", fmt::join(roles, ", "))),
                                    graph_.pid(v.process).value(), host.empty() ? "an unknown host" : escaped(host));
    if (const auto program = graph_.executable(v.process)) {
      label += "\\n" + escaped(std::filesystem::path(*program).filename().string());
    }
    std::string more;
    if (v.process == graph_.start()) more += ", penwidth=2";
    if (v.state != visit_state::read) {
      label += fmt::format("\\n({})", name(v.state));
      more += ", style=\"filled,dashed\", color=red";
    } else if (const auto problems = problems_of(graph_, v, 1); !problems.empty()) {
      more += fmt::format(", color=red, tooltip=\"{}\"", escaped(problems.front()));
    }
    text_ += fmt::format("  p{} [label=\"{}\", shape={}{}];\n", index(v.process), label, shape, more);
  }

  void write_edges(const visit& v) {
    for (const process_number p : v.directories.entries) {
      if (p == v.process || !has_node(p) || !drawn_.insert(pair(v.process, p)).second) continue;
      text_ += fmt::format("  p{} -> p{};\n", index(v.process), index(p));
    }
    for (const process_number p : v.metadirectories.entries) write_peer(v, p);
    write_worlds(v);
  }

  /// Draws the connection to a metadirectory that does not list the process. For a process that is only a rank, the
  /// connection is not drawn, because all ranks have one.
  void write_way_up(const visit& v) {
    if (!v.meta || !has_node(v.process) || !has_node(*v.meta)) return;
    if (drawn_.contains(pair(*v.meta, v.process)) || drawn_.contains(pair(v.process, *v.meta))) return;
    text_ += fmt::format("  p{} -> p{} [style=dotted, constraint=false];\n", index(v.process), index(*v.meta));
  }

  /// Draws one arrow with two heads if the processes list each other.
  void write_peer(const visit& v, process_number p) {
    if (p == v.process || !has_node(p) || drawn_.contains(pair(v.process, p))) return;
    const visit* other = graph_.visit_of(p);
    const auto& back = other->metadirectories.entries;
    const bool is_mutual = std::find(back.begin(), back.end(), v.process) != back.end();
    drawn_.insert(pair(v.process, p));
    if (is_mutual) drawn_.insert(pair(p, v.process));
    text_ += fmt::format("  p{} -> p{} [style=bold{}];\n", index(v.process), index(p),
                         is_mutual ? ", dir=both, constraint=false" : "");
  }

  void write_worlds(const visit& v) {
    for (const world_part& part : parts_of(graph_, v)) {
      if (!part.world) {
        text_ += fmt::format("  u{} [label=\"no known world\\n{}\", shape=box, style=\"filled,rounded\", color=red];\n",
                             index(v.process), counted(part.processes, "process", "processes"));
        text_ += fmt::format("  p{} -> u{};\n", index(v.process), index(v.process));
        continue;
      }
      // The ranks, if a world has several directories.
      const std::string which = part.ranks == ranks_[index(*part.world)] ? "" : ranks_words(part.ranks);
      text_ += fmt::format("  p{} -> w{} [label=\"{}\"];\n", index(v.process), index(*part.world), which);
    }
  }

  [[nodiscard]] static std::uint64_t pair(process_number a, process_number b) {
    return std::uint64_t{index(a)} << 32 | index(b);
  }
  [[nodiscard]] bool has_node(process_number p) const {
    const visit* v = graph_.visit_of(p);
    return v != nullptr && has_own_place(graph_, *v);
  }

  void write_spawns() {
    const auto made = worlds_of_spawns(graph_);
    for (std::uint32_t i = 0; i < made.size(); ++i) {
      const spawn& s = graph_.spawns()[i];
      std::string from = s.parent_world ? fmt::format("w{}", index(*s.parent_world)) : fmt::format("s{}", i);
      if (!s.parent_world) text_ += fmt::format("  {} [label=\"?\", shape=plaintext];\n", from);
      for (const world_number w : made[i]) {
        text_ += fmt::format("  {} -> w{} [label=\"rank {}, spawn {}\", style=dashed, color=blue3, fontcolor=blue3];\n",
                             from, index(w), s.parent_rank, s.sequence);
      }
    }
  }

  const graph& graph_;
  std::vector<rank_set> ranks_;                       // by world
  std::vector<std::vector<process_number>> members_;  // by world
  std::unordered_set<std::uint64_t> drawn_;
  std::string text_;
};

}  // namespace

std::string graph_dot(const job_graph& job) {
  return dot_writer(job.graph).write();
}

}  // namespace mpiacq::tool

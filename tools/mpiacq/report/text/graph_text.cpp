// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands/advice.hpp"
#include "report/call_chains.hpp"
#include "report/colours.hpp"
#include "report/graph_report.hpp"
#include "report/text/table_text.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

using namespace colours;

using namespace mpi2dd;

constexpr std::size_t places_shown = 8;
constexpr std::size_t spawns_shown = 16;
constexpr std::size_t problems_shown = 8;

/// One line and the lines below it.
struct line {
  std::string text;
  bool is_arrow = false;
  std::vector<line> below;
};

/// The recursion is as deep as the lines are nested: metadirectory, directory, world, spawn.
void draw(const std::vector<line>& lines, const std::string& left, std::string& text) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool is_last = i + 1 == lines.size();
    text += fmt::format("{}{}-{} {}\n", left, is_last ? '`' : '|', lines[i].is_arrow ? '>' : '-', lines[i].text);
    draw(lines[i].below, left + (is_last ? "    " : "|   "), text);
  }
}

std::string program_name(std::string_view path) {
  return printable(std::filesystem::path(path).filename().string());
}

/// Makes the lines of a graph.
class graph_painter {
 public:
  graph_painter(const graph& graph, bool colour)
      : graph_(graph), colour_(colour), made_by_(worlds_of_spawns(graph)), drawn_(graph.spawns().size(), false) {
    for (std::uint32_t i = 0; i < graph.spawns().size(); ++i) {
      const spawn& s = graph.spawns()[i];
      if (s.parent_world) spawns_[index(*s.parent_world)].push_back(i);
    }
    for (auto& [world, spawns] : spawns_) {
      std::stable_sort(spawns.begin(), spawns.end(), [&](std::uint32_t a, std::uint32_t b) {
        return graph.spawns()[a].parent_rank < graph.spawns()[b].parent_rank;
      });
    }
  }

  [[nodiscard]] std::string draw_all() {
    const graph_tree tree = tree_of(graph_);
    std::string text;
    for (const std::size_t top : tree.tops) {
      const line whole = process_line(tree, top, std::nullopt);
      text += "  " + whole.text + "\n";
      draw(whole.below, "  ", text);
    }
    return text + spawns_of_strangers();
  }

 private:
  [[nodiscard]] std::string in(std::string_view how, const std::string& what) const {
    return coloured(colour_, how, what);
  }

  [[nodiscard]] std::string place_of(process_number p) const {
    const auto host = graph_.host(p);
    std::string text =
        fmt::format("{} on {}", graph_.pid(p).value(), !host || host->empty() ? "an unknown host" : printable(*host));
    if (const auto program = graph_.executable(p)) text += "  " + program_name(*program);
    return text;
  }

  [[nodiscard]] line process_line(const graph_tree& tree, std::size_t number, std::optional<process_number> above) {
    const graph_tree::node& node = tree.nodes[number];
    const visit& v = graph_.visits()[node.visit];
    auto roles = roles_of(graph_, v);
    if (!roles.empty() && roles.back() == "rank") roles.back() += " " + printable(rank_name(graph_, v.process));
    if (roles.empty()) roles.emplace_back("process");
    line whole{in(bold, fmt::format("{}", fmt::join(roles, ", "))) + "  " + place_of(v.process), false, {}};
    if (v.process == graph_.start()) whole.text += "  (walked from here)";
    for (const std::string& problem : problems_of(graph_, v, problems_shown)) {
      whole.below.push_back(
          {in(v.state == visit_state::read ? yellow : red, "problem: " + advised(problem)), false, {}});
    }
    add_ways(whole, v, above);
    for (const world_part& part : parts_of(graph_, v)) whole.below.push_back(world_line(part));
    for (const std::size_t child : node.children) whole.below.push_back(process_line(tree, child, v.process));
    return whole;
  }

  /// Adds connections to metadirectories, except the one above, which the tree shows already.
  void add_ways(line& whole, const visit& v, std::optional<process_number> above) const {
    for (const process_number p : v.metadirectories.entries) {
      if (p != v.process) whole.below.push_back({"knows metadirectory " + place_of(p), true, {}});
    }
    const auto& known = v.metadirectories.entries;
    if (!v.meta || v.meta == above || std::find(known.begin(), known.end(), *v.meta) != known.end()) return;
    whole.below.push_back({"its metadirectory is " + place_of(*v.meta), true, {}});
  }

  [[nodiscard]] line world_line(const world_part& part) {
    line whole;
    const bool is_known = part.world.has_value();
    whole.text = is_known ? "world " + in(bold, printable(graph_.worlds()[index(*part.world)].id)) : "no known world";
    whole.text += "  " + in(cyan, ranks_words(part.ranks));
    const std::size_t all = is_known ? graph_.worlds()[index(*part.world)].processes : part.processes;
    if (part.ranks.count() != part.processes) {
      whole.text += fmt::format(" ({})", counted(part.processes, "entry", "entries"));
    } else if (all != part.processes) {
      whole.text += fmt::format(" of {}", all);
    }
    whole.text += "  " + places_of(graph_, part.members, places_shown);
    if (!is_known) return whole;
    if (const auto made = graph_.worlds()[index(*part.world)].spawn) {
      whole.text += ", spawned by " + in(yellow, printable(parent_name(graph_, graph_.spawns()[index(*made)])));
    }
    add_spawns(whole, part);
    return whole;
  }

  /// The spawns of a world whose parents are in this part of it.
  void add_spawns(line& whole, const world_part& part) {
    const auto found = spawns_.find(index(*part.world));
    if (found == spawns_.end()) return;
    const std::vector<std::uint32_t>& spawns = found->second;
    const auto is_below = [&](std::uint32_t s, std::uint32_t rank) {
      return graph_.spawns()[s].parent_rank < static_cast<std::int64_t>(rank);
    };
    std::size_t count = 0;
    for (const rank_set::range& range : part.ranks.ranges()) {
      auto at = std::lower_bound(spawns.begin(), spawns.end(), range.first, is_below);
      for (; at != spawns.end() && graph_.spawns()[*at].parent_rank <= static_cast<std::int64_t>(range.last); ++at) {
        if (drawn_[*at]) continue;  // another directory lists the same rank
        drawn_[*at] = true;
        if (++count <= spawns_shown) whole.below.push_back({spawn_text(*at), true, {}});
      }
    }
    if (count > spawns_shown)
      whole.below.push_back({fmt::format("and {} more spawns", count - spawns_shown), true, {}});
  }

  [[nodiscard]] std::string spawn_text(std::uint32_t number) const {
    const spawn& s = graph_.spawns()[number];
    std::vector<std::string> worlds;
    for (const world_number w : made_by_[number]) {
      worlds.push_back(fmt::format("world {} ({})", in(bold, printable(graph_.worlds()[index(w)].id)),
                                   counted(graph_.worlds()[index(w)].processes, "rank", "ranks")));
    }
    if (worlds.empty()) worlds.emplace_back("an unknown world");
    return fmt::format("{} spawned {}, sequence {}", in(yellow, fmt::format("rank {}", s.parent_rank)),
                       fmt::join(worlds, " and "), s.sequence);
  }

  /// The spawns whose parents no directory lists.
  [[nodiscard]] std::string spawns_of_strangers() const {
    std::string text;
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < drawn_.size(); ++i) {
      if (drawn_[i] || ++count > spawns_shown) continue;
      text += fmt::format("  {}, which no table lists: {}\n", printable(parent_name(graph_, graph_.spawns()[i])),
                          spawn_text(i));
    }
    if (count > spawns_shown) text += fmt::format("  and {} more spawns by others\n", count - spawns_shown);
    return text;
  }

  const graph& graph_;
  bool colour_;
  std::vector<std::vector<world_number>> made_by_;
  std::vector<bool> drawn_;                                     // by spawn
  std::map<std::uint32_t, std::vector<std::uint32_t>> spawns_;  // by parent world, in order of the parents' ranks
};

std::string headline(const job_graph& job) {
  const graph& graph = job.graph;
  const process_number start = graph.start();
  std::string text =
      fmt::format("mpiacq: {} (pid {}", printable(graph.executable(start).value_or("")), graph.pid(start).value());
  if (job.core) text += ", core file " + printable(*job.core);
  text += "): MPI2DD, " + extent_of(graph) + "\n";
  if (const visit& first = graph.visits().front(); !has_own_place(graph, first)) {
    text += "  walked from rank " + printable(rank_name(graph, start)) + "\n";
  }
  return text;
}

}  // namespace

std::string graph_text(const job_graph& job, bool colour) {
  std::string text = headline(job) + graph_painter(job.graph, colour).draw_all();
  if (job.graph.left_unopened() != 0) {
    text += fmt::format("  {} were not opened: there are too many\n",
                        counted(job.graph.left_unopened(), "directory", "directories"));
  }
  return text + problem_text(job.problems);
}

}  // namespace mpiacq::tool

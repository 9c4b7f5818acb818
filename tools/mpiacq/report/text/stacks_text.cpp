// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "commands/advice.hpp"
#include "report/call_chains.hpp"
#include "report/colours.hpp"
#include "report/failure_names.hpp"
#include "report/stacks_report.hpp"
#include "report/text/table_text.hpp"
#include "report/text/text_parts.hpp"
#include "report/text/tree_arguments.hpp"

namespace mpiacq::tool {

namespace {

using namespace colours;

constexpr std::size_t ranks_not_taken_shown = 16;
constexpr std::size_t branches_shown = 4;

/// Draws a tree, chain after chain. The parents of a chain decide the marks to the left of its frames.
class tree_painter {
 public:
  tree_painter(report_stream& out, const call_tree& tree, const rank_names& names, const rank_hosts& hosts,
               const tree_arguments& arguments, bool colour)
      : out_(out),
        tree_(tree),
        names_(names),
        hosts_(hosts),
        arguments_(arguments),
        chains_(chains_of(tree)),
        diverged_(divergence_of(tree)),
        colour_(colour) {}

  void draw() {
    std::vector<std::size_t> tops;
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      if (!chains_[i].parent) tops.push_back(i);
    }
    // The stack returns the last element first.
    for (auto top = tops.rbegin(); top != tops.rend(); ++top) waiting_.push_back({*top, "  ", "  "});
    while (!waiting_.empty()) {
      const task next = std::move(waiting_.back());
      waiting_.pop_back();
      next.chain ? draw_chain(*next.chain, next.first, next.rest) : draw_standing(next.above, next.first);
    }
  }
  /// Whether a mark shows that a rank was in a call in some of its samples only.
  [[nodiscard]] bool has_marks() const { return has_marks_; }

 private:
  /// A chain, or (without one) the ranks whose innermost frame is the last of the chain above.
  struct task {
    std::optional<std::size_t> chain;
    std::string first;  ///< left of the first line
    std::string rest;   ///< left of the others
    call_tree::node_number above = call_tree::root;
  };

  [[nodiscard]] std::string in(std::string_view how, std::string_view what) const {
    return coloured(colour_, how, what);
  }

  /// The ranks, the number of threads if it differs, and the share of the samples.
  [[nodiscard]] std::string label_of(const call_tree::node& node, std::string& shown) const {
    std::string ranks = ranks_text(node.ranks, names_);
    // The host is shown only at the first frame that the ranks of one node have to themselves.
    std::string rest = hosts_.behind(tree_[node.parent].ranks).empty() ? hosts_.behind(node.ranks) : std::string();
    if (node.threads > node.ranks.count()) rest += fmt::format(" ({} threads)", node.threads);
    const std::uint64_t all = tree_[call_tree::root].stacks;
    if (tree_.samples() > 1)
      rest += fmt::format(
          " {:.0f}%", 100.0 * static_cast<double>(node.stacks) / static_cast<double>(std::max<std::uint64_t>(all, 1)));
    const std::string mark = node.moved() ? " ~" : "";
    shown = ranks + rest + mark;
    const bool at_deepest = diverged_.deepest && node.parent == *diverged_.deepest;
    return in(at_deepest ? red : cyan, ranks) + rest + in(yellow, mark);
  }

  void draw_chain(std::size_t index, const std::string& first, const std::string& rest) {
    const call_chain& chain = chains_[index];
    std::string shown;
    // All frames of a chain have the same ranks and counts.
    const call_tree::node& first_node = tree_[chain.frames.front().node];
    const std::string label = label_of(first_node, shown);
    has_marks_ = has_marks_ || first_node.moved();
    const std::string below = rest + std::string(shown.size() + 2, ' ');
    std::string left = first + label + "  ";
    for (const call_chain::frame& frame : chain.frames) {
      out_.write(left + frame_line(frame) + "\n");
      left = below;
      for (const std::string& line : arguments_.of_groups(frame.node, names_)) {
        out_.write(fmt::format("{}  {}\n", left, line));
      }
    }
    const call_tree::node& last = tree_[chain.last];
    std::vector<task> branches;
    if (last.stacks_ending != 0 && !chain.children.empty()) {
      branches.push_back({std::nullopt, below + "|-- ", {}, chain.last});
    }
    for (const std::size_t child : chain.children) branches.push_back({child, below + "|-- ", below + "|   ", {}});
    if (!branches.empty()) {
      branches.back().first = below + "`-- ";
      branches.back().rest = below + "    ";
    }
    waiting_.insert(waiting_.end(), std::make_move_iterator(branches.rbegin()),
                    std::make_move_iterator(branches.rend()));
  }

  void draw_standing(call_tree::node_number number, const std::string& left) {
    const call_tree::node& node = tree_[number];
    const bool at_deepest = diverged_.deepest == number;
    out_.write(left + in(at_deepest ? red : cyan, ranks_text(node.standing, names_)) + "  (no further)\n");
  }

  [[nodiscard]] std::string frame_line(const call_chain::frame& frame) const {
    const std::string name = frame_name(tree_[frame.node]);
    const std::string whole = frame_text(tree_[frame.node]);
    const std::string arguments = arguments_.of_all(frame.node);
    std::string line = whole;
    if (whole.rfind(name, 0) == 0) {
      const std::string rest = arguments + whole.substr(name.size());
      // The name is bold if more follows it.
      line = (rest.empty() ? name : in(bold, name)) + rest;
    }
    if (frame.repeats > 1) line += fmt::format("  (x {})", frame.repeats);
    return line;
  }

  report_stream& out_;
  const call_tree& tree_;
  const rank_names& names_;
  const rank_hosts& hosts_;
  const tree_arguments& arguments_;
  std::vector<call_chain> chains_;
  divergence diverged_;
  bool colour_;
  std::vector<task> waiting_;
  bool has_marks_ = false;
};

/// "0 in exchange at waits.c:35 | 1-3 in settle at waits.c:39": the calls of the ranks below a frame.
std::string branches_text(const call_tree& tree, const rank_names& names, call_tree::node_number below) {
  std::string text;
  if (!tree[below].standing.empty()) text = ranks_text(tree[below].standing, names) + " no further";
  std::size_t shown = 0;
  for (const auto child : tree.children(below)) {
    if (!text.empty()) text += " | ";
    if (++shown > branches_shown) return text + "...";
    text += fmt::format("{} in {}", ranks_text(tree[child].ranks, names), frame_text(tree[child]));
  }
  return text;
}

std::string divergence_text(const call_tree& tree, const rank_names& names) {
  if (tree[call_tree::root].ranks.count() < 2) return {};
  const divergence diverged = divergence_of(tree);
  std::string text;
  if (diverged.common) {
    text += fmt::format("  all {} ranks are in {}", tree[call_tree::root].ranks.count(),
                        frame_text(tree[*diverged.common]));
    if (!diverged.deepest) return text + ", and in the same calls below it\n";
    if (*diverged.common == *diverged.deepest)
      return text + ", and diverge there: " + branches_text(tree, names, *diverged.common) + "\n";
    text += "\n";
  }
  if (diverged.deepest) {
    text += fmt::format("  the ranks diverge deepest in {}: {}\n", frame_text(tree[*diverged.deepest]),
                        branches_text(tree, names, *diverged.deepest));
  }
  return text;
}

std::string headline(const stacks_snapshot& snapshot) {
  const auto taken = std::count_if(snapshot.ranks.begin(), snapshot.ranks.end(),
                                   [](const stacked_rank& rank) { return rank.samples != 0; });
  std::string text = fmt::format("mpiacq: {}: stacks of {} of {}", starter_text(snapshot.starter, snapshot.origin),
                                 taken, counted(snapshot.ranks.size(), "rank", "ranks"));
  text += snapshot.hosts.count_text();
  if (snapshot.samples > 1) {
    text += fmt::format(", {} samples {} s apart", snapshot.samples, snapshot.interval.count());
  }
  return text + fmt::format(", stopped for {:.1f} ms\n", 1000 * snapshot.held.count());
}

std::string not_taken_text(const std::vector<stacked_rank>& ranks, const rank_names& names) {
  std::string text;
  rank_set remote;
  std::size_t shown = 0, more = 0;
  for (const stacked_rank& rank : ranks) {
    if (!rank.is_local) {
      remote.add(rank.entry);
    } else if (!rank.problems.empty() && ++shown <= ranks_not_taken_shown) {
      text += fmt::format("  rank {}: {}\n", names.of(rank.entry), advised(rank.problems.back().message));
    } else if (!rank.problems.empty()) {
      ++more;
    }
  }
  if (more != 0) text += fmt::format("  and {} more ranks with problems: see --json\n", more);
  if (!remote.empty()) {
    text += fmt::format("  on other nodes, and not looked at: {}\n", ranks_words(remote, names));
  }
  return text;
}

}  // namespace

std::string_view outcome_of(const stacked_rank& rank) {
  if (rank.samples != 0) return "taken";
  if (!rank.is_local) return "remote";
  if (rank.problems.empty()) return "failed";
  const error_code why = rank.problems.back().code;
  return failure_name(why == error_code::not_found ? error_code::process_gone : why);
}

void write_stacks_body(report_stream& out, const stacks_snapshot& snapshot, bool colour) {
  const call_tree& tree = snapshot.tree;
  const tree_arguments arguments(tree, snapshot.ranks);
  tree_painter painter(out, tree, snapshot.names, snapshot.hosts, arguments, colour);
  painter.draw();
  if (tree.samples() > 1 && painter.has_marks()) {
    out.write("  ~ a rank was there in some of the samples only; % of all stacks\n");
  }
  out.write(divergence_text(tree, snapshot.names));
  out.write(not_taken_text(snapshot.ranks, snapshot.names));
  out.write(snapshot.hosts.line(snapshot.names));
  out.write(problem_text(snapshot.problems));
}

void write_stacks_text(report_stream& out, const stacks_snapshot& snapshot, bool colour) {
  out.write(headline(snapshot));
  if (!snapshot.starter.found_how.empty()) out.write("  " + printable(snapshot.starter.found_how) + "\n");
  out.write(source_line(snapshot.origin));
  write_stacks_body(out, snapshot, colour);
  if (snapshot.names.has_worlds()) out.write(world_lines(snapshot.worlds));
}

}  // namespace mpiacq::tool

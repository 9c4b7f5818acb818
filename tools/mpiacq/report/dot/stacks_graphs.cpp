// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The merged stacks in the forms of programs that draw them.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "report/call_chains.hpp"
#include "report/stacks_report.hpp"

namespace mpiacq::tool {

namespace {

/// ';' stands between two frames.
std::string folded_name(const call_tree::node& node) {
  std::string text = frame_name(node);
  std::replace(text.begin(), text.end(), ';', ':');
  return text;
}

std::string quoted_for_dot(const std::string& text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted;
}

}  // namespace

void write_stacks_folded(report_stream& out, const call_tree& tree) {
  // In the folded form, frames of one function are equal, whatever their lines.
  std::map<std::string, std::uint64_t> counts;
  std::string path;
  std::vector<std::size_t> lengths(tree.size(), 0);  // of the path that ends with each node
  for (const auto number : tree.in_order()) {
    if (number == call_tree::root) continue;
    const call_tree::node& node = tree[number];
    path.resize(lengths[node.parent]);
    if (!path.empty()) path += ';';
    path += folded_name(node);
    lengths[number] = path.size();
    if (node.stacks_ending != 0) counts[path] += node.stacks_ending;
  }
  for (const auto& [stack, count] : counts) out.write(fmt::format("{} {}\n", stack, count));
}

void write_stacks_dot(report_stream& out, const stacks_snapshot& snapshot) {
  const call_tree& tree = snapshot.tree;
  out.write("digraph stacks {\n  node [shape=box, fontname=monospace];\n  edge [fontname=monospace];\n");
  const auto chains = chains_of(tree);
  for (std::size_t i = 0; i < chains.size(); ++i) {
    std::string label;
    for (const call_chain::frame& frame : chains[i].frames) {
      label += quoted_for_dot(frame_text(tree[frame.node]));
      if (frame.repeats > 1) label += fmt::format("  (x {})", frame.repeats);
      label += "\\l";
    }
    out.write(fmt::format("  c{} [label=\"{}\"];\n", i, label));
  }
  out.write("  top [shape=point];\n");
  for (std::size_t i = 0; i < chains.size(); ++i) {
    const call_tree::node& node = tree[chains[i].last];
    const std::string from = chains[i].parent ? fmt::format("c{}", *chains[i].parent) : "top";
    out.write(fmt::format("  {} -> c{} [label=\"{}\"{}];\n", from, i, ranks_text(node.ranks, snapshot.names),
                          node.moved() ? ", style=dashed" : ""));
  }
  out.write("}\n");
}

}  // namespace mpiacq::tool

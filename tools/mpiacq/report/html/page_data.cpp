// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/html/page_data.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "report/call_chains.hpp"
#include "report/html/wait_groups.hpp"
#include "report/queues_parts.hpp"
#include "report/text/text_parts.hpp"
#include "text/file_name.hpp"

namespace mpiacq::tool {

namespace {

/// Strings by number. Number 0 is the empty string.
class string_table {
 public:
  string_table() { (void)number_of({}); }
  std::size_t number_of(const std::string& text) {
    const auto [at, is_new] = numbers_.try_emplace(text, all_.size());
    if (is_new) all_.push_back(&at->first);
    return at->second;
  }
  void write(json_writer& out) const {
    out.begin_array();
    for (const std::string* text : all_) out.value(printable(*text));
    out.end_array();
  }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<const std::string*> all_;
};

/// The colour of a frame in the drawing.
enum class frame_kind : unsigned char { program, mpi, library, cut };

frame_kind kind_of(const call_tree::node& node) {
  if (node.is_cut()) return frame_kind::cut;
  if (activity_in(node.place->function).kind != mpi_call_kind::none) return frame_kind::mpi;
  return is_of_system(*node.place) ? frame_kind::library : frame_kind::program;
}

/// The file without its folder, and the line; or the module.
std::string short_place(const code_place& place) {
  const auto last_part = [](const std::string& path) { return std::string(base::file_name_of(path)); };
  if (!place.file.empty()) {
    return last_part(place.file) + (place.line == 0 ? std::string() : ":" + std::to_string(place.line));
  }
  return last_part(place.module_path);
}

std::string full_place(const code_place& place) {
  if (place.file.empty()) return place.module_path;
  std::string text = place.file;
  if (place.line != 0) text += ":" + std::to_string(place.line);
  return place.module_path.empty() ? text : text + " (" + place.module_path + ")";
}

/// The tree in columns, parents before their children.
void write_tree(json_writer& out, const stacks_snapshot& snapshot, string_table& strings) {
  const call_tree& tree = snapshot.tree;
  std::vector<call_tree::node_number> nodes;
  std::vector<std::size_t> rows(tree.size(), 0);
  for (const auto number : tree.in_order()) {
    if (number == call_tree::root) continue;
    rows[number] = nodes.size();
    nodes.push_back(number);
  }
  const auto column = [&](const char* key, const std::function<void(const call_tree::node&)>& write) {
    out.key(key).begin_array();
    for (const auto number : nodes) write(tree[number]);
    out.end_array();
  };
  out.begin_object();
  column("parent", [&](const call_tree::node& node) {
    out.value(node.parent == call_tree::root ? -1 : static_cast<std::int64_t>(rows[node.parent]));
  });
  column("name", [&](const call_tree::node& node) { out.value(strings.number_of(frame_name(node))); });
  column("place", [&](const call_tree::node& node) {
    out.value(strings.number_of(node.place == nullptr ? node.why : short_place(*node.place)));
  });
  column("path", [&](const call_tree::node& node) {
    out.value(strings.number_of(node.place == nullptr ? std::string() : full_place(*node.place)));
  });
  column("ranks", [&](const call_tree::node& node) { out.value(strings.number_of(snapshot.names.text(node.ranks))); });
  column("rank_count", [&](const call_tree::node& node) { out.value(node.ranks.count()); });
  column("stacks", [&](const call_tree::node& node) { out.value(node.stacks); });
  column("kind", [&](const call_tree::node& node) { out.value(static_cast<unsigned>(kind_of(node))); });
  out.end_object();
}

void write_groups(json_writer& out, const findings& found, string_table& strings) {
  const wait_groups drawn = grouped_waits(found.queues, found.why.ranks);
  out.begin_object().key("groups").begin_array();
  for (const wait_group& group : drawn.groups) {
    out.value(json{{"ranks", strings.number_of(ranks_text(group.ranks, found.queues.names))},
                   {"count", group.ranks.count()},
                   {"doing", strings.number_of(group.doing)},
                   {"stuck", group.in_deadlock},
                   {"inside", group.waits_inside},
                   {"first", !group.ranks.both(found.why.ranks).empty()}});
  }
  out.end_array().key("waits").begin_array();
  for (const group_wait& wait : drawn.waits) {
    out.value(
        json{{"from", wait.from}, {"to", wait.to}, {"certain", wait.certain}, {"why", strings.number_of(wait.why)}});
  }
  out.end_array().end_object();
}

/// A row for each rank, for the search by number.
void write_ranks(json_writer& out, const findings& found, string_table& strings) {
  const auto& ranks = found.queues.seen.ranks;
  const auto column = [&](const char* key, const std::function<void(const rank_report&)>& write) {
    out.key(key).begin_array();
    for (const rank_report& rank : ranks) write(rank);
    out.end_array();
  };
  out.begin_object();
  column("name", [&](const rank_report& rank) { out.value(found.queues.names.of(rank.entry)); });
  column("pid", [&](const rank_report& rank) { out.value(rank.pid.value()); });
  column("host", [&](const rank_report& rank) {
    out.value(strings.number_of(std::string(found.queues.hosts.of(rank.entry))));
  });
  column("doing", [&](const rank_report& rank) {
    out.value(strings.number_of(doing_text(
        {rank.doing.function, rank.doing.kind, rank_set(rank.entry), rank.doing.at, rank.stopped_by_signal})));
  });
  out.end_object();
}

}  // namespace

void write_page_data(json_writer& out, const findings& found) {
  string_table strings;
  out.begin_object().key("tree");
  write_tree(out, found.stacks, strings);
  write_groups(out.key("waits"), found, strings);
  write_ranks(out.key("ranks"), found, strings);
  strings.write(out.key("strings"));
  out.end_object();
}

}  // namespace mpiacq::tool

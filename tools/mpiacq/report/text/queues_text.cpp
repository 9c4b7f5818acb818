// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "commands/advice.hpp"
#include "report/call_chains.hpp"
#include "report/merged_rows.hpp"
#include "report/queues_parts.hpp"
#include "report/queues_report.hpp"
#include "report/text/table_text.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

std::string headline(const queues_snapshot& snapshot) {
  const auto& ranks = snapshot.seen.ranks;
  const auto whole = std::count_if(ranks.begin(), ranks.end(), is_whole);
  const std::size_t all = ranks.size() + snapshot.remote.count();
  std::string text = fmt::format("mpiacq: {}: queues of {} of {}", starter_text(snapshot.starter, snapshot.origin),
                                 whole, counted(all, "rank", "ranks"));
  text += snapshot.hosts.count_text();
  if (snapshot.interrupted) text += ", interrupted";
  if (snapshot.looks > 1) text += fmt::format(", {} looks", snapshot.looks);
  return text + fmt::format(", stopped for {:.1f} ms\n", 1000 * snapshot.held.count());
}

/// Groups of ranks that have something in common, in order of the lowest rank.
template <class Key>
class grouped {
 public:
  void add(const Key& key, entry_index entry) {
    const auto [at, is_new] = places_.try_emplace(key, rows_.size());
    if (is_new) rows_.emplace_back(key, std::vector<entry_index>{});
    auto& ranks = rows_[at->second].second;
    if (ranks.empty() || ranks.back() != entry) ranks.push_back(entry);
  }
  [[nodiscard]] std::vector<std::pair<Key, rank_set>> rows() const {
    std::vector<std::pair<Key, rank_set>> all;
    for (const auto& [key, ranks] : rows_) {
      rank_set set;
      for (const entry_index entry : ranks) set.add(entry);
      all.emplace_back(key, std::move(set));
    }
    return all;
  }

 private:
  std::map<Key, std::size_t> places_;
  std::vector<std::pair<Key, std::vector<entry_index>>> rows_;
};

std::string communicators_text(const queues_snapshot& snapshot) {
  // The last member is the size of the other side of an intercommunicator; 0 if it is unknown.
  using key = std::tuple<std::uint64_t, std::string, std::int64_t, std::optional<std::size_t>>;
  merged_rows<key> merged(rows_shown);
  std::set<key> different;
  for (const rank_report& rank : snapshot.seen.ranks) {
    if (!rank.report) continue;
    std::vector<key> of_rank;
    for (const queue_communicator& own : rank.report->communicators) {
      std::optional<std::size_t> remote;
      if (own.is_inter.value_or(false)) remote = own.remote_group ? own.remote_group->size() : 0;
      key one{own.id, own.name, own.size, remote};
      different.insert(one);
      if (of_rank.size() < merged.most()) of_rank.push_back(std::move(one));
    }
    merged.add(rank.entry, of_rank);
  }
  if (merged.rows().empty()) return {};
  std::vector<text_row> table = {{"communicator", "id", "size", "seen in ranks"}};
  std::set<key> shown;
  for (const auto& [what, ranks] : merged.rows()) {
    shown.insert(what);
    const auto& [id, own_name, size, remote] = what;
    std::string sizes = std::to_string(size);
    if (remote) sizes += *remote == 0 ? " + remote" : fmt::format(" + {} remote", *remote);
    table.push_back({own_name.empty() ? "(unnamed)" : printable(own_name), fmt::format("{:#x}", id), std::move(sizes),
                     ranks_text(ranks, snapshot.names)});
  }
  std::string text =
      fmt::format("  {}:\n{}", counted(different.size(), "communicator", "communicators"), columns(table));
  if (shown.size() < different.size())
    text += fmt::format("  and {} more: see --verbose or --json\n", different.size() - shown.size());
  return text;
}

std::string new_processes_text(const queues_snapshot& snapshot) {
  std::vector<text_row> table = {{"spawned by", "pid", "host", "executable"}};
  for (const rank_report& rank : snapshot.seen.ranks) {
    if (!rank.report) continue;
    for (const new_process& one : rank.report->new_processes) {
      table.push_back({snapshot.names.of(rank.entry), std::to_string(one.pid.value()), printable(one.host),
                       printable(one.executable)});
    }
  }
  if (table.size() == 1) return {};
  return fmt::format("  {}:\n{}", counted(table.size() - 1, "new process", "new processes"), columns(table));
}

/// Whether no queue was read: a library that failed has shown no communicator.
bool nothing_is_read(const queues_snapshot& snapshot) {
  const auto& ranks = snapshot.seen.ranks;
  return std::none_of(ranks.begin(), ranks.end(),
                      [](const rank_report& rank) { return rank.report && !rank.report->communicators.empty(); });
}

}  // namespace

std::string libraries_text(const queues_snapshot& snapshot) {
  grouped<std::tuple<std::string, std::string, std::string>> libraries;
  for (std::size_t i = 0; i < snapshot.seen.ranks.size(); ++i) {
    const rank_report& rank = snapshot.seen.ranks[i];
    if (!rank.report || rank.report->library_path.empty()) continue;
    libraries.add({rank.report->library_version, rank.report->library_path, rank.pml.value_or("")}, rank.entry);
  }
  std::string text;
  const auto rows = libraries.rows();
  for (const auto& [key, ranks] : rows) {
    const auto& [version, path, pml] = key;
    text += "  ";
    if (rows.size() > 1) text += ranks_text(ranks, snapshot.names) + ": ";
    text += fmt::format("{}, {}", version.empty() ? "a library that names no version" : printable(version),
                        printable(path));
    if (snapshot.library_chosen) text += " (--library)";
    if (snapshot.library_trusted) text += " (trusted as it is)";
    text += snapshot.in_process ? ", in this process" : "";
    if (!pml.empty()) text += ", PML " + printable(pml);
    text += "\n";
  }
  if (!snapshot.types_file.empty()) text += "  types from " + printable(snapshot.types_file) + " (--types)\n";
  for (const std::string& note : snapshot.seen.notes) text += "  " + printable(note) + "\n";
  return text;
}

std::string problems_text(const queues_snapshot& snapshot) {
  grouped<std::string> problems;
  for (const rank_report& rank : snapshot.seen.ranks) {
    if (!rank.report) {
      problems.add(rank.report.error().message, rank.entry);
      continue;
    }
    if (const auto missing = about_missing_types(rank.report->missing)) {
      // The library's own message is a consequence of this. JSON contains it.
      problems.add(*missing, rank.entry);
      continue;
    }
    for (const error& problem : rank.report->problems) problems.add(problem.message, rank.entry);
    for (const std::string& note : rank.report->notes) problems.add(note, rank.entry);
  }
  std::string text;
  std::size_t shown = 0;
  for (const auto& [sentence, ranks] : problems.rows()) {
    if (++shown > rows_shown) return text + "  and more: see --json\n";
    text += fmt::format("  {}: {}\n", ranks_words(ranks, snapshot.names), advised(sentence));
  }
  if (!snapshot.remote.empty()) {
    text += fmt::format("  on other nodes, and not looked at: {}\n", ranks_words(snapshot.remote, snapshot.names));
  }
  return text + problem_text(snapshot.problems);
}

void write_queues_body(report_stream& out, const queues_snapshot& snapshot, bool colour) {
  const bool is_unexplained =
      snapshot.waits.waits.empty() && snapshot.waits.deadlocks.empty() && snapshot.waits.mismatches.empty();
  const std::string stopped = stopped_text(snapshot.seen, snapshot.names);
  const std::string odd = is_unexplained ? odd_text(snapshot.seen, snapshot.names) : "";
  out.write(stopped);
  out.write(odd);
  // If nothing was read, "no rank waits" would be no answer. The arguments of calls may show waits nevertheless.
  if (nothing_is_read(snapshot)) {
    const bool has_waits = !snapshot.waits.waits.empty() || !snapshot.waits.mismatches.empty();
    if (has_waits) out.write(waits_text(snapshot.waits, snapshot.names, snapshot.hosts, colour));
    out.write(calls_text(snapshot.seen, snapshot.names, has_waits));
  } else {
    out.write(waits_text(snapshot.waits, snapshot.names, snapshot.hosts, colour));
    if (is_unexplained && stopped.empty() && odd.empty()) out.write(all_calls_text(snapshot.seen, snapshot.names));
    if (snapshot.verbose) {
      write_every_operation(out, snapshot);
    } else {
      out.write(operations_text(snapshot));
      out.write(communicators_text(snapshot));
    }
  }
  out.write(new_processes_text(snapshot));
  out.write(libraries_text(snapshot));
  out.write(problems_text(snapshot));
  // If each rank has a cause of its own, a doubt about its queues would repeat it.
  const auto& ranks = snapshot.seen.ranks;
  const bool is_explained = nothing_is_read(snapshot) && std::none_of(ranks.begin(), ranks.end(), is_whole);
  if (!is_explained) out.write(doubts_text(snapshot.waits));
  out.write(snapshot.hosts.line(snapshot.names));
}

void write_queues_text(report_stream& out, const queues_snapshot& snapshot, bool colour) {
  out.write(headline(snapshot));
  if (!snapshot.starter.found_how.empty()) out.write("  " + printable(snapshot.starter.found_how) + "\n");
  out.write(source_line(snapshot.origin));
  write_queues_body(out, snapshot, colour);
  if (snapshot.names.has_worlds()) out.write(world_lines(snapshot.worlds));
}

}  // namespace mpiacq::tool

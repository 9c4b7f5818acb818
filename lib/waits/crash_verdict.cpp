// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Which ranks have made a job fail.
#include <algorithm>
#include <csignal>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "mpiacq/queues/verdict.hpp"
#include "mpiacq/ranks/tree_calls.hpp"
#include "rank_words.hpp"
#include "text/signal_name.hpp"

namespace mpiacq {

namespace {

constexpr std::size_t most_groups = 3;

/// How much a failure says about its cause; the lowest comes first.
enum class blame : std::uint8_t {
  own,      ///< the rank itself has failed
  killed,   ///< by SIGKILL, whose sender the kernel does not tell
  by_other  ///< another process has sent a signal
};

bool has_address(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE;
}

std::string signal_text(const rank_end& end) {
  const int number = end.status.value;
  std::string text = "received " + base::signal_name(number);
  if (end.signal_code > 0 && has_address(number)) {
    return text + fmt::format(" for address {:#x}", end.fault.value());
  }
  if (end.sender == end.pid) return text + " from itself";
  if (end.sender.value() > 0) {
    const std::string& name = end.sender_name;
    return text + (name.empty() ? fmt::format(" from process {}", end.sender.value())
                                : fmt::format(" from {} (process {})", name, end.sender.value()));
  }
  if (end.out_of_memory) text += ", and meanwhile the kernel has killed a process of its node to free memory";
  return text;
}

/// The stack of one rank: from its innermost frame outwards.
struct rank_path {
  std::vector<const code_place*> frames;
};

/// The paths of these ranks. A rank with several threads has the path that was added last.
std::map<entry_index, rank_path> paths_of(const call_tree& tree, const rank_set& ranks) {
  std::map<entry_index, rank_path> found;
  for (call_tree::node_number i = 1; i < tree.size(); ++i) {
    const rank_set here = tree[i].standing.both(ranks);
    if (here.empty()) continue;
    rank_path path;
    for (call_tree::node_number at = i; at != call_tree::root; at = tree[at].parent) {
      if (tree[at].place) path.frames.push_back(tree[at].place.get());
    }
    here.for_each([&](entry_index entry) { found[entry] = path; });
  }
  return found;
}

bool has_function(const rank_path& path, std::string_view name) {
  return std::any_of(path.frames.begin(), path.frames.end(),
                     [&](const code_place* place) { return place->function == name; });
}

/// The innermost place of the program, with a source line if there is one.
call_site site_in(const rank_path& path) {
  call_site without_line;
  for (const code_place* place : path.frames) {
    if (is_of_system(*place) || place->function == "_start") continue;
    if (place->line != 0 && !place->file.empty()) return {place->function, place->file, place->line};
    if (!without_line.is_known()) without_line = {place->function, {}, 0};
  }
  return without_line;
}

/// Whether the rank ends itself in MPI_Abort. The function's own frame is missing where its end is a jump into one of
/// these functions of the library.
bool is_in_abort(const rank_path& path) {
  constexpr std::string_view names[] = {"MPI_Abort", "PMPI_Abort", "ompi_mpi_abort", "MPIR_Abort_impl", "MPID_Abort"};
  return std::any_of(std::begin(names), std::end(names),
                     [&](std::string_view name) { return has_function(path, name); });
}

std::string place_text(const call_site& site) {
  if (site.line == 0) return site.function.empty() ? "" : fmt::format(", in {}", site.function);
  return site_text(site);
}

/// The cause as the functions on the stack show it, for SIGABRT.
std::string_view cause_of_abort(const rank_path& path) {
  if (has_function(path, "__assert_fail") || has_function(path, "__assert_fail_base")) return "an assertion has failed";
  for (const code_place* place : path.frames) {
    if (place->function == "__cxa_throw" || place->function.starts_with("std::terminate")) {
      return "a C++ exception was not caught";
    }
  }
  return has_function(path, "abort") || has_function(path, "__GI_abort") ? "it called abort" : "";
}

std::string failure_text(const rank_end& end, const rank_path& path) {
  std::string text = end_text(end);
  if (end.status.signaled && end.status.value == SIGABRT && end.is_own_signal()) {
    if (const auto cause = cause_of_abort(path); !cause.empty()) text = fmt::format("received SIGABRT: {}", cause);
  }
  return text + place_text(site_in(path));
}

blame blame_of(const rank_end& end) {
  if (!end.status.signaled || end.is_own_signal()) return blame::own;
  return end.sender.value() > 0 ? blame::by_other : blame::killed;
}

/// Ranks that have failed in the same way at the same place.
struct failed_ranks {
  blame how = blame::own;
  std::string text;
  rank_set ranks;
};

void add_to(std::vector<failed_ranks>& groups, blame how, const std::string& text, const rank_set& ranks) {
  const auto same = std::find_if(groups.begin(), groups.end(),
                                 [&](const failed_ranks& one) { return one.how == how && one.text == text; });
  if (same != groups.end()) {
    same->ranks.add(ranks);
  } else {
    groups.push_back({how, text, ranks});
  }
}

}  // namespace

std::string end_text(const rank_end& end) {
  if (end.status.signaled) return signal_text(end);
  const std::string status = fmt::format("exited with status {}", end.status.value);
  if (end.phase == mpi_phase::running) return status + " before MPI_Finalize";
  return end.phase == mpi_phase::not_started ? status + " before MPI_Init" : status;
}

verdict find_crash_verdict(std::span<const rank_end> failed, const call_tree& stacks, const rank_names& names) {
  rank_set ended;
  for (const rank_end& end : failed) ended.add(end.entry);
  std::vector<failed_ranks> groups;
  rank_set aborting;
  for (const tree_call& made : calls_of_programs(stacks)) {
    if (made.call.function != "MPI_Abort") continue;
    const rank_set& ranks = stacks[made.node].ranks;
    aborting.add(ranks);
    add_to(groups, blame::own, "called MPI_Abort" + place_text(made.call.at), ranks);
  }
  const auto paths = paths_of(stacks, ended);
  for (const rank_end& end : failed) {
    if (aborting.contains(end.entry)) continue;
    const auto found = paths.find(end.entry);
    const rank_path path = found == paths.end() ? rank_path{} : found->second;
    if (is_in_abort(path)) {
      add_to(groups, blame::own, "called MPI_Abort" + place_text(site_in(path)), rank_set(end.entry));
    } else {
      add_to(groups, blame_of(end), failure_text(end, path), rank_set(end.entry));
    }
  }
  if (groups.empty()) return {verdict_basis::nothing, "no rank has failed", {}};
  std::stable_sort(groups.begin(), groups.end(),
                   [](const failed_ranks& a, const failed_ranks& b) { return a.how < b.how; });
  verdict given{verdict_basis::crash, {}, {}};
  std::size_t named = 0;
  for (const failed_ranks& group : groups) {
    if (group.how != groups.front().how) break;
    given.ranks.add(group.ranks);
    if (++named > most_groups) continue;
    if (named > 1) given.sentence += "; ";
    given.sentence += fmt::format("{} {}", waits::counted_ranks(group.ranks, names), group.text);
  }
  if (named > most_groups) given.sentence += fmt::format("; and {} more failures", named - most_groups);
  return given;
}

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the stacks show where the queues say nothing, or could not be read.
#include <algorithm>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "report/call_chains.hpp"
#include "report/queues_parts.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

std::string sites_text(const std::vector<rank_call>& calls, const rank_names& names) {
  std::string text;
  for (const rank_call& call : std::span(calls).first(std::min(calls.size(), rows_shown))) {
    text += fmt::format("    {}: {}\n", ranks_words(call.ranks, names), doing_text(call));
  }
  if (calls.size() > rows_shown) text += fmt::format("    and {} more: see --json\n", calls.size() - rows_shown);
  return text;
}

}  // namespace

std::string doing_text(const rank_call& call) {
  if (call.is_stopped) {
    rank_call place = call;
    place.is_stopped = false;
    return "stopped by a signal, " + doing_text(place);
  }
  const bool one = call.ranks.count() == 1;
  switch (call.kind) {
    case mpi_call_kind::unknown:
      return one ? "its call is not known" : "their calls are not known";
    case mpi_call_kind::none:
      return call.at.is_known() ? "in no MPI call," + printable(site_text(call.at)) : "in no MPI call";
    case mpi_call_kind::ended:
      return one ? "it has ended" : "they have ended";
    default:
      return "in " + printable(call.function + site_text(call.at));
  }
}

std::string all_calls_text(const group_queues& seen, const rank_names& names) {
  return "  the calls of the ranks:\n" + sites_text(calls_by_site(seen.ranks), names);
}

std::string stopped_text(const group_queues& seen, const rank_names& names) {
  std::vector<rank_call> stopped = calls_by_site(seen.ranks);
  std::erase_if(stopped, [](const rank_call& call) { return !call.is_stopped; });
  std::string text;
  for (const rank_call& call : std::span(stopped).first(std::min(stopped.size(), rows_shown))) {
    text += fmt::format("  {}: {}; only SIGCONT lets {} continue\n", ranks_words(call.ranks, names), doing_text(call),
                        call.ranks.count() == 1 ? "it" : "them");
  }
  if (stopped.size() > rows_shown) text += fmt::format("  and {} more: see --json\n", stopped.size() - rows_shown);
  return text;
}

std::string odd_text(const group_queues& seen, const rank_names& names) {
  const auto odd = find_odd_ranks(seen.ranks);
  if (!odd) return {};
  return fmt::format("  most ranks are in {}, and these are not:\n{}", printable(odd->most.function),
                     sites_text(odd->others, names));
}

std::string calls_text(const group_queues& seen, const rank_names& names, bool has_waits) {
  std::string text = "  what the stacks alone show:\n" + sites_text(calls_by_site(seen.ranks), names);
  if (has_waits) {
    return text +
           "  not known: which messages are pending; the waits above are those that the arguments of the calls show\n";
  }
  for (const collective_gap& gap : collective_gaps(calls_of(seen.ranks))) {
    text += fmt::format("    {} {} not come to {}, which {} {} in: if the call is on MPI_COMM_WORLD, {} for {}\n",
                        ranks_words(gap.missing, names), gap.missing.count() == 1 ? "has" : "have",
                        printable(gap.function), ranks_words(gap.in, names), gap.in.count() == 1 ? "is" : "are",
                        gap.in.count() == 1 ? "it waits" : "they wait", gap.missing.count() == 1 ? "it" : "them");
  }
  return text + "  not known: which messages are pending, and so which rank waits for which\n";
}

}  // namespace mpiacq::tool

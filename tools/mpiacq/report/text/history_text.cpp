// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "report/call_chains.hpp"
#include "report/history_report.hpp"
#include "report/queues_parts.hpp"
#include "report/text/text_parts.hpp"
#include "text/file_name.hpp"

namespace mpiacq::tool {

namespace {

/// A rank that computes is at no line in particular.
std::string place_of_stay(const rank_call& where) {
  if (where.kind != mpi_call_kind::none) return doing_text(where);
  if (where.at.function.empty()) return "in no MPI call";
  const std::string file = where.at.file.empty() ? "" : fmt::format(" ({})", base::file_name_of(where.at.file));
  return printable(fmt::format("in no MPI call, in {}{}", where.at.function, file));
}

std::string length_of_stay(const rank_stay& stay) {
  if (stay.samples == 1) return "in the last sample only";
  return fmt::format("for at least {:.0f} s, in {} samples{}", std::chrono::duration<double>(stay.at_least).count(),
                     stay.samples, stay.since_first ? ", all that there are" : "");
}

}  // namespace

std::string history_text(const history_snapshot& history, const rank_names& names) {
  std::string text;
  for (const rank_stay& stay : std::span(history.stays).first(std::min(history.stays.size(), rows_shown))) {
    text += fmt::format("  {}: {}, {}\n", ranks_words(stay.where.ranks, names), place_of_stay(stay.where),
                        length_of_stay(stay));
  }
  if (history.stays.size() > rows_shown) {
    text += fmt::format("  and {} more places: see report.json\n", history.stays.size() - rows_shown);
  }
  return text + fmt::format("  {}, one every {:g} s; a rank may have moved between two of them\n",
                            counted(history.samples.size(), "sample", "samples"), history.every.count());
}

}  // namespace mpiacq::tool

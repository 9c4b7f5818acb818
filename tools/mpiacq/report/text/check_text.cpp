// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "report/check_report.hpp"
#include "report/colours.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

using check::verdict;

std::string_view colour_of(verdict v) {
  switch (v) {
    case verdict::pass:
      return colours::green;
    case verdict::fail:
      return colours::red;
    case verdict::not_applicable:
      break;
  }
  return colours::dim;
}

/// A violated recommendation is marked.
std::string verdict_text(const check::judgement& j) {
  std::string text(check::name(j.result.what));
  if (j.result.what == verdict::fail && j.rule->strength == check::binding::should) text += " (should)";
  return text;
}

std::string headline(const check::observations& seen) {
  std::string text =
      fmt::format("mpiacq: {} (pid {}) against MPIR 1.1, ", printable(seen.executable), seen.starter.value());
  text += seen.how == check::mode::launch ? "launched" : "attached to";
  if (!seen.ended) return text + ", still running\n";
  return text + fmt::format(", ended with {} {}\n", seen.ended->signaled ? "signal" : "exit status", seen.ended->value);
}

}  // namespace

std::string check_text(const check::observations& seen, const std::vector<check::judgement>& verdicts, bool colour) {
  std::size_t id_width = 0, title_width = 0, verdict_width = 0;
  for (const check::judgement& j : verdicts) {
    id_width = std::max(id_width, j.rule->id.size());
    title_width = std::max(title_width, j.rule->title.size());
    verdict_width = std::max(verdict_width, verdict_text(j).size());
  }
  std::string text = headline(seen);
  for (const check::judgement& j : verdicts) {
    const std::string word = verdict_text(j);
    text += fmt::format("  {:<{}}  {:<{}}  {}{:<{}}{}  {}\n", j.rule->id, id_width, j.rule->title, title_width,
                        colour ? colour_of(j.result.what) : std::string_view{}, word, verdict_width,
                        colour ? colours::plain : std::string_view{}, printable(j.result.saw));
  }
  const auto count = [&](verdict v) {
    return std::count_if(verdicts.begin(), verdicts.end(), [&](const auto& j) { return j.result.what == v; });
  };
  return text + fmt::format("  {}: {} passed, {} failed, {} not applicable\n",
                            counted(verdicts.size(), "clause", "clauses"), count(verdict::pass), count(verdict::fail),
                            count(verdict::not_applicable));
}

}  // namespace mpiacq::tool

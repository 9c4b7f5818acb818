// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/check_report.hpp"
#include "report/json/json_parts.hpp"

namespace mpiacq::tool {

namespace {

json json_of_end(const check::observations& seen) {
  if (!seen.ended || !seen.end_known) return nullptr;
  const bool signaled = seen.ended->signaled;
  return {{"exit_status", signaled ? json(nullptr) : json(seen.ended->value)},
          {"signal", signaled ? json(seen.ended->value) : json(nullptr)}};
}

}  // namespace

json check_json(const check::observations& seen, const std::vector<check::judgement>& verdicts) {
  json clauses = json::array();
  for (const check::judgement& j : verdicts) {
    clauses.push_back({{"id", j.rule->id},
                       {"section", j.rule->section},
                       {"title", j.rule->title},
                       {"strength", check::name(j.rule->strength)},
                       {"verdict", check::name(j.result.what)},
                       {"saw", j.result.saw}});
  }
  return {{"schema", "mpiacq.check/1"},
          {"starter",
           {{"pid", seen.starter.value()},
            {"executable", seen.executable},
            {"mode", seen.how == check::mode::launch ? "launch" : "attach"},
            {"ended", json_of_end(seen)}}},
          {"clauses", std::move(clauses)}};
}

}  // namespace mpiacq::tool

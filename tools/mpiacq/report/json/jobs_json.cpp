// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "report/jobs_report.hpp"
#include "report/json/json_parts.hpp"
#include "report/json/json_writer.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

json json_of(const listed_job& job) {
  json starter = nullptr;
  if (job.starter) starter = {{"pid", job.starter->value()}, {"executable", or_null(job.executable)}};
  json problems = json::array(), command = json::array();
  for (const error& problem : job.problems) problems.push_back(problem.message);
  for (const std::string& word : job.command) command.push_back(word);
  return {{"pid", job.named.value()},
          {"source", name(job.source)},
          {"launcher", name(job.launcher)},
          {"starter", std::move(starter)},
          {"job_id", or_null(job.job_id)},
          {"ranks_here", job.ranks_here},
          {"ranks", job.ranks ? json(*job.ranks) : json(nullptr)},
          {"user", job.user.value()},
          {"user_name", or_null(user_name(job.user))},
          {"started", time_text(job.started)},
          {"command", std::move(command)},
          {"contains_caller", job.contains_caller},
          {"problems", std::move(problems)}};
}

}  // namespace

void write_jobs(json_writer& out, const jobs_snapshot& snapshot) {
  const job_list& list = snapshot.list;
  out.begin_object().member("schema", "mpiacq.jobs/1").key("jobs").begin_array();
  for (const listed_job& job : list.jobs) out.value(json_of(job));
  out.end_array()
      .key("looked_at")
      .value(json{
          {"processes", list.processes}, {"refused", list.refused}, {"possible_starters", list.possible_starters}});
  out.end_object();
}

}  // namespace mpiacq::tool

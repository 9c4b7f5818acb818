// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include <fmt/format.h>

#include "report/findings.hpp"
#include "report/json/json_writer.hpp"
#include "report/json/queues_json.hpp"
#include "report/json/stacks_json.hpp"
#include "report/register_names.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

json registers_json(const rank_end& end) {
  if (!end.registers) return nullptr;
  json values = json::object();
  for (const named_register& one : named_registers(*end.registers))
    values[one.name] = fmt::format("{:#x}", one.value.value());
  return values;
}

json json_of_crash(const findings& found) {
  const rank_names& names = found.queues.names;
  json ends = json::array(), cores = json::array(), problems = json::array();
  for (const shown_end& one : all_ends(*found.crash)) {
    const rank_end& end = *one.end;
    const bool signaled = end.status.signaled;
    const bool has_sender = end.sender.value() > 0;
    ends.push_back(
        {{"rank", names.of(end.entry)},
         {"pid", end.pid.value()},
         {"text", end_text(end)},
         {"signal", signaled ? json(end.status.value) : json(nullptr)},
         {"exit_status", signaled ? json(nullptr) : json(end.status.value)},
         {"code", end.signal_code},
         {"address", fmt::format("{:#x}", end.fault.value())},
         {"thread", end.thread.value()},
         {"sender", has_sender ? json{{"pid", end.sender.value()}, {"name", end.sender_name}} : json(nullptr)},
         {"out_of_memory", end.out_of_memory},
         {"while_held", one.killed_while_held},
         {"mpi", name(end.phase)},
         {"registers", registers_json(end)}});
  }
  for (const rank_core& core : found.crash->cores.written) {
    cores.push_back({{"rank", names.of(core.entry)},
                     {"host", core.host},
                     {"path", core.path},
                     {"bytes", core.bytes},
                     {"unread", core.unread}});
  }
  for (const refused_ranks& one : found.crash->cores.refused) {
    problems.push_back({{"ranks", names.text(one.ranks)}, {"message", one.why.message}});
  }
  return {{"ends", std::move(ends)}, {"cores", std::move(cores)}, {"problems", std::move(problems)}};
}

}  // namespace

void write_findings(json_writer& out, const findings& found) {
  json odd = json::array(), command = json::array();
  for (const odd_row& row : odd_rows(found)) {
    odd.push_back({{"ranks", found.queues.names.text(row.ranks)}, {"why", row.why}});
  }
  for (const std::string& word : found.command) command.push_back(word);
  out.begin_object()
      .members({{"schema", "mpiacq.report/1"},
                {"why", name(found.cause)},
                {"verdict",
                 {{"basis", name(found.why.basis)},
                  {"sentence", found.why.sentence},
                  {"ranks", found.queues.names.text(found.why.ranks)}}},
                {"odd_ranks", std::move(odd)},
                {"taken", time_text(found.taken)},
                {"host", found.host},
                {"command", std::move(command)},
                {"mpiacq", version()},
                {"crash", found.crash ? json_of_crash(found) : json(nullptr)},
                {"history", found.history ? json_of_history(*found.history, found.queues.names) : json(nullptr)}})
      .member("deadlocks", json_of_deadlocks(found.queues))
      .key("waits");
  write_wait_list(out, found.queues);
  out.key("job");
  write_job(out, found.job);
  write_stacks(out.key("stacks"), found.stacks);
  write_queues(out.key("queues"), found.queues);
  out.end_object();
}

}  // namespace mpiacq::tool

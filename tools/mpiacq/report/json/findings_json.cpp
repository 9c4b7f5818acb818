// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/findings.hpp"
#include "report/json/json_writer.hpp"
#include "report/json/queues_json.hpp"
#include "report/json/stacks_json.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

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
                {"crash", nullptr},
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

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The command's own report of a process table, for tests and benchmarks that contain the command's sources.
#pragma once

#include <vector>

#include "mpiacq/job/process_table.hpp"
#include "report/json/json_writer.hpp"
#include "report/json/table_json.hpp"
#include "report/report_stream.hpp"
#include "report/text/table_text.hpp"

namespace mpiacq::test {

/// Writes the report of a table whose ranks are all on other nodes. Returns 0, or the errno of a failed write.
[[nodiscard]] inline int write_table_report(const process_table& table, bool json, int descriptor) {
  const std::vector<rank_state> states(table.size(), rank_state::remote);
  const entry_locality locality;
  tool::report_stream out(descriptor, false);
  if (json) {
    tool::json_writer document(out);
    tool::write_processes(document, {table, states, locality});
  } else {
    out.write(tool::extent_text(table, {}) + "\n" + tool::table_text(table, states));
  }
  out.flush();
  return out.failure();
}

}  // namespace mpiacq::test

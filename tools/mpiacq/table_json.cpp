// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "table_json.hpp"

#include <utility>

namespace mpiacq::tool {

namespace {

json or_null(std::optional<std::string_view> text) {
  return text ? json(*text) : json(nullptr);
}

}  // namespace

json json_of_processes(const seen_table& seen) {
  const process_table& table = seen.table;
  json processes = json::array();
  auto problem = table.problems().begin();  // in order of entries, as we go
  for (std::size_t i = 0; i < table.size(); ++i) {
    json problems = json::array();
    for (; problem != table.problems().end() && problem->entry == i; ++problem) {
      problems.push_back(problem->sentence());
    }
    processes.push_back({{"rank", i},
                         {"world", nullptr},
                         {"host", or_null(table.host_name(i))},
                         {"executable", or_null(table.executable_name(i))},
                         {"pid", table.pid(i).value()},
                         {"local", bool{seen.is_local[i]}},
                         {"state", name(seen.states[i])},
                         {"spawned_by", nullptr},
                         {"problems", std::move(problems)}});
  }
  return processes;
}

}  // namespace mpiacq::tool

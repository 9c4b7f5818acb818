// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/json/mpi_call_json.hpp"

namespace mpiacq::tool {

json arguments_of(const rank_activity& doing) {
  json arguments = json::array();
  for (const mpi_argument& one : doing.arguments) {
    if (!one.is_known || one.is_address) continue;
    arguments.push_back(
        {{"role", name(one.role)}, {"value", one.value}, {"name", or_null(one.name)}, {"source", name(one.source)}});
  }
  return arguments;
}

json json_of_site(const call_site& site) {
  if (!site.is_known()) return nullptr;
  return {{"function", or_null(site.function)},
          {"file", or_null(site.file)},
          {"line", site.line != 0 ? json(site.line) : json(nullptr)}};
}

}  // namespace mpiacq::tool

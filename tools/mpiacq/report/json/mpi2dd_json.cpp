// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/json/mpi2dd_json.hpp"

#include <span>
#include <utility>

namespace mpiacq::tool {

using namespace mpi2dd;

namespace {

template <class Flag>
json json_of_flags(flag_set<Flag> flags, std::span<const named<Flag>> known) {
  json names = json::array();
  for (const named<Flag>& flag : known) {
    if (flags.has(flag.value)) names.push_back(flag.name);
  }
  return {{"bits", flags.bits()}, {"names", std::move(names)}};
}

}  // namespace

json json_of(const process_info& info) {
  const info_block& block = info.block;
  json warnings = json::array();
  for (const error& warning : info.warnings) warnings.push_back(warning.message);
  return {{"address", fmt::format("{:#x}", info.address.value())},
          {"version", block.version},
          {"variant", block.variant},
          {"debug_state",
           {{"value", static_cast<unsigned>(block.state)}, {"name", or_null(std::string(name(block.state)))}}},
          {"debugger_flags", json_of_flags(block.debugger_flags, debugger_flags())},
          {"mpi_flags", json_of_flags(block.mpi_flags, mpi_flags())},
          {"queue_library_32", or_null(info.queue_library_32)},
          {"queue_library_64", or_null(info.queue_library_64)},
          {"meta_host", or_null(info.meta_host)},
          {"meta_executable", or_null(info.meta_executable)},
          {"meta_pid", block.meta_pid},
          {"abort_reason", or_null(info.abort_reason)},
          {"proctable_size", block.proctable_size},
          {"directory_size", block.directory_size},
          {"metadirectory_size", block.metadirectory_size},
          {"warnings", std::move(warnings)}};
}

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <variant>

#include "command_line.hpp"
#include "commands.hpp"
#include "core_command.hpp"

int main(int argc, char** argv) {
  using namespace mpiacq::tool;
  const invocation asked = parse_command_line(argc, argv);
  if (const auto* launch = std::get_if<launch_options>(&asked)) return run_launch(*launch);
  if (const auto* attach = std::get_if<attach_command_options>(&asked)) return run_attach(*attach);
  if (const auto* inspect = std::get_if<inspect_options>(&asked)) return run_inspect(*inspect);
  if (const auto* core = std::get_if<core_report_options>(&asked)) return run_core(*core);
  if (const auto* check = std::get_if<check_options>(&asked)) return run_check(*check);
  if (const auto* stacks = std::get_if<stacks_options>(&asked)) return run_stacks(*stacks);
  if (const auto* graph = std::get_if<graph_command_options>(&asked)) return run_graph(*graph);
  if (const auto* queues = std::get_if<queues_options>(&asked)) return run_queues(*queues);
  if (const auto* types = std::get_if<types_options>(&asked)) return run_types(*types);
  return std::get<finished>(asked).status;
}

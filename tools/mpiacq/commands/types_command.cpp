// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "commands/types_command.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "commands/command_help.hpp"
#include "commands/commands.hpp"
#include "commands/exit_status.hpp"
#include "report/json/json_writer.hpp"
#include "report/report_file.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

std::string build_id_of(const type_carrier& carrier) {
  module named;
  named.build_id = carrier.build_id;
  return build_id_text(named);
}

std::string types_text(const type_carrier& carrier) {
  std::string text =
      fmt::format("{}: the types of {} {}\n", printable(carrier.path), carrier.mpi, printable(carrier.version));
  text += fmt::format("  for:      {}\n", printable(carrier.library));
  text += fmt::format("  build id: {}\n", carrier.build_id.empty() ? "none" : build_id_of(carrier));
  text += fmt::format("  held against the library: the version, and the sizes of {}: {}\n",
                      counted(carrier.compared.size(), "type", "types"), fmt::join(carrier.compared, ", "));
  return text;
}

json types_json(const type_carrier& carrier) {
  return {{"schema", "mpiacq.types/1"},  {"mpi", carrier.mpi},         {"version", carrier.version},
          {"path", carrier.path},        {"library", carrier.library}, {"build_id", or_null(build_id_of(carrier))},
          {"compared", carrier.compared}};
}

}  // namespace

CLI::App* add_types_command(CLI::App& app, types_options& options) {
  CLI::App* command = app.add_subcommand("types", types_about);
  command->footer(types_details);
  command->add_option("mpi", options.request.mpi, fmt::format("The MPI: {}", fmt::join(carrier_names(), ", ")))
      ->type_name("MPI");
  command->add_option("-o,--output", options.request.output, "Put the types into this file, and not into the cache")
      ->type_name("FILE");
  command->add_option("--wrapper", options.request.wrapper, "The MPI's compiler wrapper, if not the first one in PATH")
      ->type_name("PROGRAM");
  command
      ->add_option("--library", options.request.library,
                   "The MPI library that they are for, if not what the wrapper links")
      ->type_name("FILE");
  command->add_flag("--json", options.json, "Print one JSON document (mpiacq.types/1)");
  return command;
}

int run_types(const types_options& options) {
  const auto made = make_type_carrier(options.request);
  if (!made) {
    complain(made.error());
    return status_tool_failed;
  }
  auto report = report_file::open({}, STDOUT_FILENO);
  if (!report) {
    complain(report.error());
    return status_tool_failed;
  }
  report->write([made = *made, json = options.json](report_stream& out) {
    json ? write_document(out, types_json(made)) : out.write(types_text(made));
  });
  return status_ok;
}

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "commands/commands.hpp"
#include "commands/exit_status.hpp"
#include "errors/try.hpp"
#include "mpiacq/queues/type_carriers.hpp"
#include "options/option_parts.hpp"
#include "report/json/json_writer.hpp"
#include "report/report_file.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

struct types_options {
  bool json = false;
  carrier_request request;
};

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
  text += fmt::format("  compared with the library: the version, and the sizes of {}: {}\n",
                      counted(carrier.compared.size(), "type", "types"), fmt::join(carrier.compared, ", "));
  return text;
}

json types_json(const type_carrier& carrier) {
  return {{"schema", "mpiacq.types/1"},  {"mpi", carrier.mpi},         {"version", carrier.version},
          {"path", carrier.path},        {"library", carrier.library}, {"build_id", or_null(build_id_of(carrier))},
          {"compared", carrier.compared}};
}

result<int> run(const types_options& options) {
  const auto made = TRY(make_type_carrier(options.request));
  const auto report = TRY(report_file::open({}, STDOUT_FILENO));
  report.write([made, json = options.json](report_stream& out) {
    json ? write_document(out, types_json(made)) : out.write(types_text(made));
  });
  return status_ok;
}

declared_command declare_types(CLI::App& app) {
  const auto options = std::make_shared<types_options>();
  carrier_request& request = options->request;
  app.add_option("MPI", request.mpi, fmt::format("The MPI: {}", fmt::join(carrier_names(), ", ")))->required();
  app.add_option("--wrapper", request.wrapper, "The MPI's compiler wrapper, if it is not the first one in PATH")
      ->type_name("PROGRAM")
      ->group(option_group::queues);
  app.add_option("--library", request.library,
                 "The MPI library that the types are for, if it is not the one that the wrapper links")
      ->type_name("FILE")
      ->group(option_group::queues);
  app.add_flag("--json", options->json, "Report as JSON");
  app.add_option("-o,--output", request.output, "Write the types to FILE and not to the cache")->type_name("FILE");
  return {.run = [options] { return run(*options); }};
}

}  // namespace

const command types_command = {
    .name = "types",
    .purpose = "Makes a file with the types that the message-queue library of an MPI needs",
    .example = "mpiacq types openmpi",
    .usage = "MPI",
    .details =
        R"(The message-queue library of an MPI that was built without debug information, as distributions do, cannot read the MPI's data. This command compiles the types from the MPI's own headers, compares them with the library, and stores them in a cache ($XDG_CACHE_HOME/mpiacq/types or ~/.cache/mpiacq/types), where 'mpiacq queues' finds them by the library's build id. It runs the MPI's compiler wrapper and a C compiler. Once for each installed MPI is enough.

More examples:
  mpiacq types openmpi --wrapper /opt/openmpi/bin/mpicc
  mpiacq types openmpi -o openmpi-types.so && mpiacq queues --types openmpi-types.so 4242

Exit status: 0; 125 if the types cannot be made, with what to install.
)",
    .declare = declare_types};

}  // namespace mpiacq::tool

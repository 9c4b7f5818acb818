// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "exit_status.hpp"
#include "mpiacq/job.hpp"

namespace mpiacq::tool {

namespace {

constexpr auto about =
    "Finds and takes hold of all processes of an MPI job from outside.\n"
    "The starter (mpirun, srun, mpiexec) is run or looked at as it is: no recompiling, no configuration.";

constexpr auto launch_about = "Runs a starter under control and reports the processes of its job";
constexpr auto launch_details =
    "The job's processes are reported when they have been spawned; then the job goes on. The report goes to standard\n"
    "error, so that the job's output stays its own.\n\n"
    "Examples:\n"
    "  mpiacq launch -- mpirun -n 4 ./app\n"
    "  mpiacq launch --json -o job.json --then stop -- srun -N2 -n8 ./app\n\n"
    "Exit status: the starter's own, 128 + N where signal N ended it; 125 where mpiacq failed, or the starter ended\n"
    "well without having reported any processes; 126 where it cannot be run; 127 where it is not found.";

constexpr auto inspect_about = "Says what a program, or a running process, offers to a debugger";
constexpr auto inspect_details =
    "Each known symbol with its module and address, the layout of the process descriptor and where it was learnt, and\n"
    "what is missing. Nothing is run or stopped.\n\n"
    "Examples:\n"
    "  mpiacq inspect /usr/bin/mpirun\n"
    "  mpiacq inspect 4242\n\n"
    "Exit status: 0; 125 where the program cannot be read.";

void add_report_options(CLI::App& command, report_options& options) {
  command.add_flag("--json", options.json, "Report as JSON: one document for each event, a file holds the last");
  command.add_option("-o,--output", options.output, "Where the report goes; - is standard output")->type_name("FILE");
  command
      .add_option("--debug-dir", options.debug_folders,
                  "A folder with separate debug files, searched before /usr/lib/debug; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);  // one folder each time: the next word is not another
}

/// CLI11 does not know that a starter's command line follows.
class formatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string) const override {
    if (app->get_name() == "launch") return "Usage: mpiacq launch [OPTIONS] -- STARTER ARG...\n";
    if (app->get_name() == "inspect") return "Usage: mpiacq inspect [OPTIONS] FILE|PID\n";
    return "Usage: mpiacq COMMAND [OPTIONS] ...\n";
  }
};

int failed(std::string_view complaint) {
  std::cerr << "mpiacq: " << complaint << "\n";
  return status_tool_failed;
}

}  // namespace

invocation parse_command_line(int argc, char** argv) {
  CLI::App app{about, "mpiacq"};
  app.set_version_flag("--version", std::string("mpiacq ") + std::string(version()));
  app.require_subcommand(0, 1);
  app.formatter(std::make_shared<formatter>());

  launch_options launch;
  double timeout = 0;
  CLI::App* launch_command = app.add_subcommand("launch", launch_about);
  launch_command->footer(launch_details);
  add_report_options(*launch_command, launch.report);
  const std::map<std::string, then> verbs = {
      {"continue", then::go_on}, {"detach", then::detach}, {"stop", then::stop}, {"kill", then::kill}};
  std::string verb = "continue";
  launch_command
      ->add_option("--then", verb,
                   "What becomes of the job after the report: it goes on, and an abort is reported (continue, "
                   "the default); it goes on untraced (detach); the starter stays stopped for another tool (stop); "
                   "it is ended (kill)")
      ->type_name("continue|detach|stop|kill")
      ->check(CLI::IsMember({"continue", "detach", "stop", "kill"}).description(""));
  CLI::Option* timeout_option =
      launch_command
          ->add_option("--timeout", timeout, "Give up, and let the job go on, if it has not spawned after so long")
          ->type_name("SECONDS")
          ->check(CLI::Validator(CLI::PositiveNumber).description(""));
  // Everything from the starter's name on is the starter's own, options too.
  launch_command->prefix_command();

  inspect_options inspect;
  CLI::App* inspect_command = app.add_subcommand("inspect", inspect_about);
  inspect_command->footer(inspect_details);
  add_report_options(*inspect_command, inspect.report);
  inspect_command->add_option("subject", inspect.subject, "A program's file, or the id of a running process")
      ->type_name("FILE|PID");

  // What stands behind the first "--" is the starter's command line, or the rest of one that began before it.
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto mark = std::find(words.begin(), words.end(), "--");
  std::vector<std::string> behind_mark;
  if (mark != words.end()) behind_mark.assign(mark + 1, words.end());
  try {
    app.parse(std::vector<std::string>(std::make_reverse_iterator(mark), words.rend()));
  } catch (const CLI::Success& question) {
    return finished{app.exit(question)};
  } catch (const CLI::ParseError& mistake) {
    return finished{failed(fmt::format("{}\nSee 'mpiacq --help', or 'mpiacq COMMAND --help'.", mistake.what()))};
  }

  if (launch_command->parsed()) {
    launch.after = verbs.at(verb);
    if (timeout_option->count() != 0) launch.timeout = timeout;
    launch.command = launch_command->remaining();
    if (!launch.command.empty() && mark != words.end()) launch.command.emplace_back("--");
    launch.command.insert(launch.command.end(), behind_mark.begin(), behind_mark.end());
    if (launch.command.empty()) {
      return finished{failed("launch: no starter was given. Try: mpiacq launch -- mpirun -n 4 ./app")};
    }
    return launch;
  }
  if (inspect_command->parsed()) {
    if (inspect.subject.empty() && !behind_mark.empty()) inspect.subject = behind_mark.front();
    if (inspect.subject.empty()) {
      return finished{failed("inspect: no program was given. Try: mpiacq inspect /usr/bin/mpirun")};
    }
    return inspect;
  }
  std::cerr << app.help();
  return finished{status_tool_failed};
}

}  // namespace mpiacq::tool

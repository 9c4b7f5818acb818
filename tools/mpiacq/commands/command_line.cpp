// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "commands/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <iterator>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands/command_help.hpp"
#include "commands/complaints.hpp"
#include "commands/exit_status.hpp"
#include "commands/job_options_line.hpp"
#include "mpiacq/job/job.hpp"
#include "report/printable.hpp"

namespace mpiacq::tool {

namespace {

/// CLI11 does not know that a starter's command line follows.
class formatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string) const override {
    if (app->get_name() == "launch") return "Usage: mpiacq launch [OPTIONS] -- STARTER ARG...\n";
    if (app->get_name() == "attach")
      return "Usage: mpiacq attach [OPTIONS] PID\n       mpiacq attach [OPTIONS] --core FILE\n";
    if (app->get_name() == "check")
      return "Usage: mpiacq check [OPTIONS] -- STARTER ARG...\n       mpiacq check [OPTIONS] PID\n";
    if (app->get_name() == "stacks") return "Usage: mpiacq stacks [OPTIONS] PID\n";
    if (app->get_name() == "graph") return "Usage: mpiacq graph [OPTIONS] PID|CORE\n";
    if (app->get_name() == "inspect") return "Usage: mpiacq inspect [OPTIONS] FILE|PID\n";
    if (app->get_name() == "queues") return "Usage: mpiacq queues [OPTIONS] PID\n";
    if (app->get_name() == "types") return "Usage: mpiacq types [OPTIONS] MPI\n";
    return "Usage: mpiacq COMMAND [OPTIONS] ...\n";
  }
};

/// A number is a process; a program of that name can be given behind "--".
std::optional<std::int64_t> process_said_by(const std::string& word) {
  std::int64_t pid = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), pid);
  if (problem != std::errc{} || end != word.data() + word.size() || pid <= 0) return std::nullopt;
  return pid;
}

int failed(std::string_view complaint) {
  complain_in_lines(complaint);
  return status_tool_failed;
}

}  // namespace

invocation parse_command_line(int argc, char** argv) {
  CLI::App app{about, "mpiacq"};
  app.set_version_flag("--version", std::string("mpiacq ") + std::string(version()));
  app.require_subcommand(0, 1);
  app.formatter(std::make_shared<formatter>());

  launch_options launch;
  job_words launch_words;
  CLI::App* launch_command = app.add_subcommand("launch", launch_about);
  launch_command->footer(launch_details);
  add_report_options(*launch_command, launch.report);
  add_job_options(*launch_command, launch_words, "continue",
                  "Give up, and let the job go on, if it has not spawned after so long");
  // Everything from the starter's name on is the starter's own, options too.
  launch_command->prefix_command();

  attach_command_options attach;
  job_words attach_words;
  std::int64_t attach_to = 0;
  CLI::App* attach_command = app.add_subcommand("attach", attach_about);
  attach_command->footer(attach_details);
  add_report_options(*attach_command, attach.report);
  add_job_options(*attach_command, attach_words, "detach",
                  "Give up, and let the job go on, if its starter has no process table after so long");
  CLI::Option* attach_process =
      attach_command->add_option("process", attach_to, "The starter, or a process of its job")->type_name("PID");
  check_options check;
  double check_timeout = 0;
  CLI::App* check_command = app.add_subcommand("check", check_about);
  check_command->footer(check_details);
  add_report_options(*check_command, check.report);
  CLI::Option* check_timeout_option =
      add_timeout(*check_command, check_timeout,
                  "Watch for no longer than this: the job goes on, and what was seen so far is judged");
  check_command
      ->add_option("--daemon", check.daemon,
                   "Have the starter launch this program beside the processes (MPIR 1.1, 7.1)")
      ->type_name("PATH");
  check_command->add_option("--daemon-arg", check.daemon_arguments, "An argument for it; may be repeated")
      ->type_name("ARG")
      ->allow_extra_args(false);
  check_command->prefix_command();

  inspect_options inspect;
  CLI::App* inspect_command = app.add_subcommand("inspect", inspect_about);
  inspect_command->footer(inspect_details);
  add_report_options(*inspect_command, inspect.report);
  inspect_command->add_option("subject", inspect.subject, "A program's file, or the id of a running process")
      ->type_name("FILE|PID");

  stacks_words stacks;
  CLI::App* stacks_command = add_stacks_command(app, stacks);

  graph_words graph;
  CLI::App* graph_command = add_graph_command(app, graph);

  queues_words queues;
  CLI::App* queues_command = add_queues_command(app, queues);

  types_options types;
  CLI::App* types_command = add_types_command(app, types);

  core_report_options core;
  CLI::Option* core_option =
      attach_command->add_option("--core", core.core, "Not a process but a core file of the starter, of any machine")
          ->type_name("FILE");
  attach_command
      ->add_option("--executable", core.executable, "With --core: the starter's file, if not the one the core names")
      ->type_name("FILE")
      ->needs(core_option);
  attach_command
      ->add_option("--sysroot", core.sysroot,
                   "With --core: a folder that stands for the root of the machine where the core was made")
      ->type_name("DIR")
      ->needs(core_option);

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
    // Words of the command line may come from a job: a path, a name.
    return finished{failed(printable(mistake.what()) + "\nSee 'mpiacq --help', or 'mpiacq COMMAND --help'.")};
  }

  const auto starters_command = [&](std::vector<std::string> before_mark) {
    if (!before_mark.empty() && mark != words.end()) before_mark.emplace_back("--");
    before_mark.insert(before_mark.end(), behind_mark.begin(), behind_mark.end());
    return before_mark;
  };
  if (launch_command->parsed()) {
    if (const auto wrong = take_job_options(launch_words, launch)) return finished{failed("launch: " + *wrong)};
    if (!launch.communicator.empty())
      return finished{failed("launch: --ranks comm: needs a job that runs already: see attach, stacks, queues")};
    launch.command = starters_command(launch_command->remaining());
    if (launch.command.empty()) {
      return finished{failed("launch: no starter was given. Try: mpiacq launch -- mpirun -n 4 ./app")};
    }
    return launch;
  }
  if (attach_command->parsed()) {
    if (core_option->count() != 0) {
      if (attach_process->count() != 0) return finished{failed("attach: either a PID or --core, not both")};
      core.report = attach.report;
      return core;
    }
    if (const auto wrong = take_job_options(attach_words, attach)) return finished{failed("attach: " + *wrong)};
    if (attach_process->count() == 0 && !behind_mark.empty()) {
      const auto number = process_said_by(behind_mark.front());
      if (!number) return finished{failed(fmt::format("attach: {} is no process number", behind_mark.front()))};
      attach_to = *number;
    } else if (attach_process->count() == 0) {
      return finished{failed("attach: no process was given. Try: mpiacq attach $(pgrep -n mpirun)")};
    }
    attach.process = process_id{attach_to};
    return attach;
  }
  if (check_command->parsed()) {
    if (check_timeout_option->count() != 0) check.timeout = check_timeout;
    check.command = starters_command(check_command->remaining());
    if (check.command.size() == 1 && mark == words.end()) check.pid = process_said_by(check.command.front());
    if (check.command.empty()) {
      return finished{failed("check: no starter was given. Try: mpiacq check -- mpirun -n 4 ./app")};
    }
    return check;
  }
  const auto process_named = [&](const CLI::Option& given, std::int64_t number) {
    if (given.count() != 0) return std::optional(number);
    return behind_mark.empty() ? std::nullopt : process_said_by(behind_mark.front());
  };
  if (stacks_command->parsed()) {
    stacks_options options;
    if (const auto wrong = take_stacks_options(stacks, options)) return finished{failed("stacks: " + *wrong)};
    const auto process = process_named(*stacks.process_given, stacks.process);
    if (!process) return finished{failed("stacks: no process was given. Try: mpiacq stacks $(pgrep -n mpirun)")};
    options.process = process_id{*process};
    return options;
  }
  if (graph_command->parsed()) {
    graph_command_options options = taken_graph_options(graph);
    if (options.report.json && options.dot)
      return finished{failed("graph: --json and --dot are two reports: choose one")};
    if (options.subject.empty() && !behind_mark.empty()) options.subject = behind_mark.front();
    if (options.subject.empty()) {
      return finished{failed("graph: no process was given. Try: mpiacq graph $(pgrep -n mpirun)")};
    }
    return options;
  }
  if (queues_command->parsed()) {
    queues_options options;
    if (const auto wrong = take_queues_options(queues, options)) return finished{failed("queues: " + *wrong)};
    const auto process = process_named(*queues.process_given, queues.process);
    if (!process) return finished{failed("queues: no process was given. Try: mpiacq queues $(pgrep -n mpirun)")};
    options.process = process_id{*process};
    return options;
  }
  if (types_command->parsed()) {
    if (types.request.mpi.empty()) return finished{failed("types: no MPI was given. Try: mpiacq types openmpi")};
    return types;
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

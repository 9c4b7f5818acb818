// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <algorithm>
#include <charconv>
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

constexpr auto attach_about = "Takes hold of a job that runs already, and reports its processes";
constexpr auto attach_details =
    "PID is the starter's (mpirun, srun), or that of a rank on the starter's node, or of a script that runs the "
    "starter.\n"
    "The job is let go as it was found, unless --then says otherwise. The report goes to standard output.\n\n"
    "Examples:\n"
    "  mpiacq attach 4242\n"
    "  mpiacq attach --then stop --ranks 0-3,8 4242\n"
    "  mpiacq attach --daemon /opt/tool/daemon --daemon-arg --port=5000 4242\n"
    "  mpiacq attach --core core.4242 --sysroot /mnt/node7\n\n"
    "Exit status: 0; 125 where the job cannot be taken hold of, or has no table within --timeout; 128 + N after signal "
    "N.";

constexpr auto inspect_about = "Says what a program, or a running process, offers to a debugger";
constexpr auto inspect_details =
    "Each known symbol with its module and address, the layout of the process descriptor and where it was learnt, and\n"
    "what is missing. Nothing is run or stopped.\n\n"
    "Examples:\n"
    "  mpiacq inspect /usr/bin/mpirun\n"
    "  mpiacq inspect 4242\n\n"
    "Exit status: 0; 125 where the program cannot be read.";

constexpr auto check_about = "Says clause by clause how a starter keeps to the MPIR document";
constexpr auto check_details =
    "The starter is run as it is, its job is watched to the end, and what was seen is held against each sentence of "
    "the\n"
    "MPIR Process Acquisition Interface 1.1 that binds an implementation. The job is not disturbed. The report goes "
    "to\n"
    "standard error, so that the job's output stays its own. A running starter, given by its number, is attached to "
    "for a\n"
    "moment; the report then goes to standard output.\n\n"
    "Examples:\n"
    "  mpiacq check -- mpirun -n 4 ./app\n"
    "  mpiacq check 4242\n"
    "  mpiacq check --json -o verdicts.json -- srun -N2 -n8 ./app\n\n"
    "Exit status: 0; 1 where a clause has failed; 125 where mpiacq failed, or the starter ended without having started "
    "a\n"
    "job; 126 where it cannot be run; 127 where it is not found.";

void add_report_options(CLI::App& command, report_options& options) {
  command.add_flag("--json", options.json, "Report as JSON: one document for each event, a file holds the last");
  command.add_option("-o,--output", options.output, "Where the report goes; - is standard output")->type_name("FILE");
  command
      .add_option("--debug-dir", options.debug_folders,
                  "A folder with separate debug files, searched before /usr/lib/debug; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);  // one folder each time: the next word is not another
}

/// What launch and attach share, as it is parsed.
struct job_words {
  std::string verb;
  double timeout = 0;
  CLI::Option* timeout_given = nullptr;
  std::string ranks = "all";
  std::string daemon;
  std::vector<std::string> daemon_arguments;
  bool daemon_output = false;
};

void add_job_options(CLI::App& command, job_words& words, const char* verb, const char* timeout_about) {
  words.verb = verb;
  command
      .add_option("--then", words.verb,
                  fmt::format("What becomes of the job after the report: it goes on, and what else happens is reported "
                              "until the starter ends (continue); it goes on untraced (detach); it stays stopped for "
                              "another tool (stop); it is ended (kill). Default: {}",
                              verb))
      ->type_name("continue|detach|stop|kill")
      ->check(CLI::IsMember({"continue", "detach", "stop", "kill"}).description(""));
  words.timeout_given = command.add_option("--timeout", words.timeout, timeout_about)
                            ->type_name("SECONDS")
                            ->check(CLI::Validator(CLI::PositiveNumber).description(""));
  command.add_option("--ranks", words.ranks, "The ranks that --then stop leaves stopped, as in 0-3,8; default: all")
      ->type_name("RANKS");
  command
      .add_option("--daemon", words.daemon,
                  "A program that the starter is to run once on each node of the job, with the rights to look at it")
      ->type_name("PATH");
  command
      .add_option("--daemon-arg", words.daemon_arguments,
                  "An argument of the daemon; may be repeated, none may be empty")
      ->type_name("ARG")
      ->allow_extra_args(false);
  command.add_flag("--daemon-output", words.daemon_output, "The daemons' output comes out with the job's");
}

/// Into the options; a sentence where they make no sense together.
std::optional<std::string> take_job_options(const job_words& words, job_command_options& options) {
  const std::map<std::string, then> verbs = {
      {"continue", then::go_on}, {"detach", then::detach}, {"stop", then::stop}, {"kill", then::kill}};
  options.after = verbs.at(words.verb);
  if (words.timeout_given->count() != 0) options.timeout = words.timeout;
  auto ranks = rank_selection::parse(words.ranks);
  if (!ranks) return "--ranks: " + ranks.error().message;
  options.ranks = std::move(*ranks);
  if (words.daemon.empty() && (!words.daemon_arguments.empty() || words.daemon_output)) {
    return "--daemon-arg and --daemon-output need a --daemon that they are for";
  }
  if (!words.daemon.empty()) {
    options.daemons = mpir::daemon_request{words.daemon, words.daemon_arguments, words.daemon_output};
  }
  return std::nullopt;
}

/// CLI11 does not know that a starter's command line follows.
class formatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string) const override {
    if (app->get_name() == "launch") return "Usage: mpiacq launch [OPTIONS] -- STARTER ARG...\n";
    if (app->get_name() == "attach")
      return "Usage: mpiacq attach [OPTIONS] PID\n       mpiacq attach [OPTIONS] --core FILE\n";
    if (app->get_name() == "check")
      return "Usage: mpiacq check [OPTIONS] -- STARTER ARG...\n       mpiacq check [OPTIONS] PID\n";
    if (app->get_name() == "inspect") return "Usage: mpiacq inspect [OPTIONS] FILE|PID\n";
    return "Usage: mpiacq COMMAND [OPTIONS] ...\n";
  }
};

/// A number is a process; a program of that name can be given behind "--".
std::optional<std::int64_t> process_number(const std::string& word) {
  std::int64_t pid = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), pid);
  if (problem != std::errc{} || end != word.data() + word.size() || pid <= 0) return std::nullopt;
  return pid;
}

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
      check_command
          ->add_option("--timeout", check_timeout,
                       "Watch for no longer than this: the job goes on, and what was seen so far is judged")
          ->type_name("SECONDS")
          ->check(CLI::Validator(CLI::PositiveNumber).description(""));
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
    return finished{failed(fmt::format("{}\nSee 'mpiacq --help', or 'mpiacq COMMAND --help'.", mistake.what()))};
  }

  const auto starters_command = [&](std::vector<std::string> before_mark) {
    if (!before_mark.empty() && mark != words.end()) before_mark.emplace_back("--");
    before_mark.insert(before_mark.end(), behind_mark.begin(), behind_mark.end());
    return before_mark;
  };
  if (launch_command->parsed()) {
    if (const auto wrong = take_job_options(launch_words, launch)) return finished{failed("launch: " + *wrong)};
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
      const auto number = process_number(behind_mark.front());
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
    if (check.command.size() == 1 && mark == words.end()) check.pid = process_number(check.command.front());
    if (check.command.empty()) {
      return finished{failed("check: no starter was given. Try: mpiacq check -- mpirun -n 4 ./app")};
    }
    return check;
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

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pwd.h>
#include <unistd.h>

#include "commands/advice.hpp"
#include "report/jobs_report.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

constexpr std::size_t problems_of_job_shown = 4;  // of one job
constexpr std::size_t longest_command = 200;

/// "12 s", "5 min", "3 h", "2 days"
std::string age_text(std::chrono::system_clock::time_point started) {
  using namespace std::chrono;
  const auto age = std::max(duration_cast<seconds>(system_clock::now() - started), seconds{0});
  constexpr seconds minute{60}, hour{3600}, day{86400};
  if (age < 2 * minute) return fmt::format("{} s", age.count());
  if (age < 2 * hour) return fmt::format("{} min", age / minute);
  if (age < 2 * day) return fmt::format("{} h", age / hour);
  return fmt::format("{} days", age / day);
}

/// The first bytes of a text, without the beginning of a character that does not fit.
std::string cut(std::string text, std::size_t most) {
  constexpr std::string_view mark = "...";
  if (text.size() <= most) return text;
  std::size_t end = most > mark.size() ? most - mark.size() : 0;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  text.resize(end);
  return text.append(mark);
}

std::string command_text(const listed_job& job) {
  std::string text;
  for (const std::string& word : job.command) {
    if (text.size() > longest_command) break;
    text += (text.empty() ? "" : " ") + printable(word);
  }
  return cut(text.empty() ? printable(job.executable) : text, longest_command);
}

/// The name of the software for users.
std::string_view title_of(launcher_kind kind) {
  switch (kind) {
    case launcher_kind::open_mpi:
      return "Open MPI";
    case launcher_kind::prrte:
      return "PRRTE";
    case launcher_kind::hydra:
      return "MPICH (Hydra)";
    case launcher_kind::slurm:
      return "Slurm";
    case launcher_kind::flux:
      return "Flux";
    case launcher_kind::pals:
      return "PALS";
    case launcher_kind::torchrun:
      return "torchrun";
    case launcher_kind::unknown:
      break;
  }
  return "unknown";
}

/// Users know the job numbers of resource managers. The job names of other launchers are of no use to them.
std::string launcher_text(const listed_job& job) {
  const bool is_known_by_number = job.launcher == launcher_kind::slurm || job.launcher == launcher_kind::flux ||
                                  job.launcher == launcher_kind::pals;
  constexpr std::size_t longest_id = 24;
  std::string text(title_of(job.launcher));
  if (is_known_by_number && job.job_id) text += " " + cut(printable(*job.job_id), longest_id);
  return text;
}

std::string ranks_here_text(const listed_job& job) {
  return fmt::format("{} of {}", job.ranks_here, job.ranks ? std::to_string(*job.ranks) : "?");
}

/// Cuts the lines of a table so that a terminal does not wrap them.
std::string table_of(const job_list& list, std::size_t columns_shown) {
  std::vector<std::vector<std::string>> rows = {{"JOB", "LAUNCHER", "SOURCE", "RANKS HERE", "USER", "AGE", "COMMAND"}};
  for (const listed_job& job : list.jobs) {
    const std::string user = user_name(job.user);
    rows.push_back({std::to_string(job.named.value()), launcher_text(job), std::string(name(job.source)),
                    ranks_here_text(job), user.empty() ? std::to_string(job.user.value()) : printable(user),
                    age_text(job.started), command_text(job)});
  }
  const std::string text = columns(rows);
  if (columns_shown == 0) return text;
  std::string lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines += cut(text.substr(begin, end - begin), columns_shown) + "\n";
    begin = end + 1;
  }
  return lines;
}

std::string notes_on(const listed_job& job) {
  std::string text;
  const auto note = [&](std::string_view what) { text += fmt::format("  {}: {}\n", job.named.value(), what); };
  if (!job.starter) note("no process of this node has started it; this is its lowest rank here");
  if (job.contains_caller) note("this command runs inside of it, so it is not chosen unless it is named");
  for (std::size_t i = 0; i < std::min(job.problems.size(), problems_of_job_shown); ++i) {
    note(advised(job.problems[i].message));
  }
  if (job.problems.size() > problems_of_job_shown) {
    note(fmt::format("and {} more problems: see --json", job.problems.size() - problems_of_job_shown));
  }
  return text;
}

/// What the commands can do with these jobs.
std::string next_steps(const job_list& list) {
  const auto is_by_environment = [](const listed_job& job) { return job.source == interface_kind::environment; };
  const auto is_of_slurm = [](const listed_job& job) { return job.slurm.has_value(); };
  std::string text;
  if (std::any_of(list.jobs.begin(), list.jobs.end(), is_by_environment)) {
    text +=
        "  source environment: no starter has a process table of the job; the variables of its ranks show those of "
        "this node, and agents look for those of other nodes\n";
  }
  const std::string job = list.jobs.size() == 1 ? "" : fmt::format(" {}", list.jobs.front().named.value());
  text += fmt::format(
      "  Next: mpiacq report{0}   why it stands still, if it does\n"
      "        mpiacq stacks{0}   where its ranks are\n"
      "        mpiacq queues{0}   which rank waits for which\n"
      "        mpiacq attach{0}   all its processes\n",
      job);
  const auto of_slurm = std::find_if(list.jobs.begin(), list.jobs.end(), is_of_slurm);
  if (of_slurm != list.jobs.end()) {
    text +=
        fmt::format("  slurm:{} in place of a process id works on each node of that job\n", of_slurm->slurm->text());
  }
  return text;
}

std::string looked_at(const job_list& list) {
  auto launchers = launchers_by_environment();
  const std::string_view last = launchers.back();
  launchers.pop_back();
  std::string text = fmt::format(
      "  looked at: the environment of {}, for the variables that {} and {} set\n"
      "             {} that have started others, for a process table (MPIR, MPI2DD, PMIx)\n",
      counted(list.processes - list.refused, "process", "processes"), fmt::join(launchers, ", "), last,
      counted(list.possible_starters, "process", "processes"));
  if (list.refused != 0) {
    text += fmt::format("  not looked at: {} of other users. Their user sees their jobs, and root sees all\n",
                        counted(list.refused, "process", "processes"));
  }
  return text;
}

std::string refused_line(const job_list& list) {
  if (list.refused == 0) return {};
  return fmt::format("  not looked at: {} of other users\n", counted(list.refused, "process", "processes"));
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? printable(name.data()) : "this host";
}

}  // namespace

std::string user_name(user_id user) {
  std::array<char, 16384> text{};
  passwd entry{};
  passwd* found = nullptr;
  const int problem = ::getpwuid_r(static_cast<uid_t>(user.value()), &entry, text.data(), text.size(), &found);
  return problem == 0 && found != nullptr ? found->pw_name : "";
}

std::string jobs_text(const jobs_snapshot& snapshot) {
  const job_list& list = snapshot.list;
  if (list.jobs.empty()) {
    return fmt::format("no parallel job on this node ({})\n", host_name()) + looked_at(list) +
           "  If the job runs on other nodes, run mpiacq on one of them, or where its starter (mpirun, srun) runs.\n"
           "  If you know a process of the job: 'mpiacq stacks PID' looks for its job, and 'mpiacq inspect PID' shows "
           "what the process offers to a debugger.\n";
  }
  std::string text = fmt::format("{} on this node ({})\n", counted(list.jobs.size(), "job", "jobs"), host_name());
  text += table_of(list, snapshot.width);
  for (const listed_job& job : list.jobs) text += notes_on(job);
  return text + refused_line(list) + next_steps(list);
}

}  // namespace mpiacq::tool

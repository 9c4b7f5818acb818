// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The time limit of a batch job, by what batch systems answer.
#include "sessions/batch_limit.hpp"

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include "catch.hpp"
#include "run_command.hpp"
#include "sessions/program_output.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::tool;
using namespace std::chrono_literals;

namespace {

/// The environment of a batch job, with a folder of programs as the only one in PATH.
class batch_job {
 public:
  explicit batch_job(const std::string& variable, const std::string& value) {
    for (const char* name : names) ::unsetenv(name);
    ::setenv("PATH", folder_.path("").c_str(), 1);
    ::setenv(variable.c_str(), value.c_str(), 1);
  }
  ~batch_job() {
    for (const char* name : names) ::unsetenv(name);
    ::setenv("PATH", path_.c_str(), 1);
  }
  batch_job(const batch_job&) = delete;
  batch_job& operator=(const batch_job&) = delete;

  void add(const std::string& program, const std::string& body) const {
    std::ofstream(folder_.path(program)) << "#!/bin/sh\n" << body << "\n";
    ::chmod(folder_.path(program).c_str(), 0755);
  }
  [[nodiscard]] std::string folder() const { return folder_.path(""); }

 private:
  static constexpr const char* names[] = {"SLURM_JOB_ID", "SLURM_JOB_END_TIME", "PBS_JOBID", "FLUX_JOB_ID"};
  scratch_folder folder_;
  std::string path_ = std::getenv("PATH");
};

std::string why_none() {
  const auto found = find_batch_limit();
  REQUIRE_FALSE(found);
  return found.error().message;
}

}  // namespace

TEST_CASE("batch limit: lengths of time as batch systems write them") {
  CHECK(length_in("59:59") == 3599s);
  CHECK(length_in("1:00:00") == 1h);
  CHECK(length_in("720:00:00") == 720h);
  CHECK(length_in("2-03:04:05") == 51h + 4min + 5s);
  CHECK(length_in("90") == 90s);
  CHECK(length_in("0:00") == 0s);
  for (const char* other : {"", "UNLIMITED", "NOT_SET", "INVALID", "1:2:3:4", "-5", "1:-5", "5:", ":5", "1 2", "1e9",
                            "99999999999999999999", "999999999999-00:00:00", "infinity"}) {
    INFO(other);
    CHECK_FALSE(length_in(other));
  }
}

TEST_CASE("batch limit: the report comes a twentieth of the time before the end, at most a minute") {
  CHECK(margin_before_end(100s).count() == Approx(5));
  CHECK(margin_before_end(20min).count() == Approx(60));
  CHECK(margin_before_end(240h).count() == Approx(60));
}

TEST_CASE("batch limit: qstat of Torque gives the rest, and that of PBS Pro the start") {
  const auto now = std::chrono::system_clock::now();
  CHECK(left_by_qstat("Job Id: 42\n    Resource_List.walltime = 01:00:00\n    Walltime.Remaining = 1234\n", now) ==
        1234s);
  const std::time_t start = std::chrono::system_clock::to_time_t(now - 100s);
  char text[64] = {};
  std::tm parts{};
  REQUIRE(::localtime_r(&start, &parts) != nullptr);
  REQUIRE(std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &parts) != 0);
  for (const char* name : {"stime", "start_time"}) {
    const auto left = left_by_qstat(
        "Job Id: 42\n    Resource_List.walltime = 01:00:00\n    " + std::string(name) + " = " + text + "\n", now);
    REQUIRE(left);
    CHECK(*left >= 3499s);
    CHECK(*left <= 3500s);
  }
  for (const char* other :
       {"", "Walltime.Remaining", "    Walltime.Remaining = x\n", "    Resource_List.walltime = 1:00:00\n",
        "    Resource_List.walltime = 1:00:00\n    stime = yesterday\n"}) {
    CHECK_FALSE(left_by_qstat(other, now));
  }
}

TEST_CASE("batch limit: the environment says which system is asked") {
  SECTION("none") {
    const batch_job job("OTHER", "1");
    CHECK_THAT(why_none(), ContainsSubstring("SLURM_JOB_ID, PBS_JOBID and FLUX_JOB_ID"));
  }
  SECTION("Slurm's end time") {
    const batch_job job("SLURM_JOB_ID", "42");
    const auto end = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()) + 100;
    ::setenv("SLURM_JOB_END_TIME", std::to_string(end).c_str(), 1);
    const auto found = find_batch_limit();
    REQUIRE(found);
    CHECK(found->job == "Slurm job 42");
    CHECK(found->left <= 100s);
    CHECK(found->left >= 90s);
    ::setenv("SLURM_JOB_END_TIME", "1000000000", 1);
    CHECK_THAT(why_none(), ContainsSubstring("the time limit of Slurm job 42 has passed"));
  }
  SECTION("squeue") {
    const batch_job job("SLURM_JOB_ID", "42");
    job.add("squeue", "[ \"$*\" = '-h -j 42 -o %L' ] && echo 1:40");
    const auto found = find_batch_limit();
    REQUIRE(found);
    CHECK(found->left == 100s);
    job.add("squeue", "echo UNLIMITED");
    CHECK_THAT(why_none(), ContainsSubstring("Slurm job 42 has no time limit") && ContainsSubstring("'UNLIMITED'"));
    job.add("squeue", "echo no such job >&2; echo more >&2; exit 1");
    CHECK_THAT(why_none(), ContainsSubstring("squeue ended with status 1: no such job"));
  }
  SECTION("qstat") {
    const batch_job job("PBS_JOBID", "42.server");
    job.add("qstat", "[ \"$*\" = '-f 42.server' ] && echo '    Walltime.Remaining = 77'");
    const auto found = find_batch_limit();
    REQUIRE(found);
    CHECK(found->job == "PBS job 42.server");
    CHECK(found->left == 77s);
  }
  SECTION("Flux") {
    const batch_job job("FLUX_JOB_ID", "f42");
    job.add("flux", "[ \"$*\" = 'job timeleft f42' ] && echo 88");
    const auto found = find_batch_limit();
    REQUIRE(found);
    CHECK(found->left == 88s);
    job.add("flux", "echo 4294967295");
    CHECK_THAT(why_none(), ContainsSubstring("has no time limit"));
  }
  SECTION("an id that could be an option is none") {
    const batch_job job("SLURM_JOB_ID", "--help");
    CHECK_THAT(why_none(), ContainsSubstring("no batch job"));
  }
}

TEST_CASE("batch limit: root runs no program that others can write") {
  if (::geteuid() != 0) MPIACQ_SKIP("only root has this rule");
  const batch_job job("SLURM_JOB_ID", "42");
  job.add("squeue", "echo 1:40");
  REQUIRE(find_batch_limit());
  ::chmod(job.folder().c_str(), 0777);
  CHECK_THAT(why_none(), ContainsSubstring("no program squeue in PATH that root alone can write to"));
  ::chmod(job.folder().c_str(), 0755);
  ::chmod((job.folder() + "squeue").c_str(), 0777);
  CHECK_THAT(why_none(), ContainsSubstring("no program squeue"));
  ::chmod((job.folder() + "squeue").c_str(), 0755);
  ::setenv("PATH", ".", 1);
  CHECK_THAT(why_none(), ContainsSubstring("no program squeue"));
}

TEST_CASE("batch limit: a program that does not answer is given up, with what it has started") {
  const batch_job job("SLURM_JOB_ID", "42");
  // The child of the shell keeps the output open.
  job.add("slow", "echo $$ > " + job.folder() + "group; /bin/sleep 600; echo late");
  const auto answer = output_of({"slow"}, 1s);
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == error_code::timed_out);
  CHECK_THAT(answer.error().message, ContainsSubstring("has not answered within 1 s"));
  const pid_t group = std::atoi(file_contents(job.folder() + "group").c_str());
  REQUIRE(group > 0);
  CHECK(comes_true([group] { return ::kill(-group, 0) != 0; }));
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// `mpiacq attach --core` on cores of the fixture starters, as gcore, the kernel and QEMU write them.
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include <sys/wait.h>

#include "catch.hpp"
#include "launched.hpp"
#include "live_process.hpp"
#include "take_core.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using nlohmann::json;

namespace {

/// A starter that has announced its job and holds; the kernel would put its core into `folder`.
struct held_starter {
  explicit held_starter(std::vector<std::string> arguments) {
    ::setenv("MPIACQ_ORACLE", folder.path("oracle").c_str(), 1);
    std::filesystem::create_directory(folder.path("cores"));
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path("cores"));
    arguments.emplace_back("--hold");
    process = std::make_unique<live_process>(std::move(arguments));
    std::filesystem::current_path(before);
    ::unsetenv("MPIACQ_ORACLE");
    is_ready = process->lines_until_ready().empty() && process_state(process->pid().value()) != 'Z';
  }
  [[nodiscard]] std::map<std::string, std::string> oracle() const { return read_oracle(folder.path("oracle")); }

  scratch_folder folder;
  std::unique_ptr<live_process> process;
  bool is_ready = false;
};

struct reported {
  command_outcome command;
  json report;
};

reported attach_core(const std::string& core, const std::vector<std::string>& options = {}) {
  std::vector<std::string> line = {MPIACQ_COMMAND, "attach", "--json", "--core", core};
  line.insert(line.end(), options.begin(), options.end());
  reported r{run_command(line), {}};
  if (!r.command.out.empty()) r.report = json::parse(r.command.out);
  return r;
}

void check_report(const reported& seen, const std::map<std::string, std::string>& oracle, const std::string& state) {
  INFO(seen.command.err);
  INFO(seen.command.out);
  REQUIRE(seen.command.exit_code == 0);
  CHECK(seen.report.at("schema") == "mpiacq.job/1");
  CHECK(seen.report.at("event") == "attached");
  CHECK(seen.report.at("abort_reason").is_null());
  CHECK(seen.report.at("problems").empty());
  CHECK(seen.report.at("lacking").is_null());
  const json& starter = seen.report.at("starter");
  CHECK(starter.at("mode") == "core");
  CHECK(std::to_string(starter.at("pid").get<long>()) == oracle.at("starter_pid"));
  CHECK(starter.at("executable") == oracle.at("executable"));
  CHECK(std::to_string(seen.report.at("layout").at("size").get<long>()) == oracle.at("procdesc.size"));
  for (const auto& [name, symbol] : seen.report.at("symbols").items()) {
    INFO(name);
    CHECK(std::stoull(symbol.at("address").get<std::string>(), nullptr, 16) ==
          std::stoull(oracle.at("symbol." + name), nullptr, 16));
  }
  REQUIRE(seen.report.at("processes").size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const json& process = seen.report.at("processes")[i];
    const std::string rank = "rank." + std::to_string(i);
    CHECK(process.at("rank") == i);
    CHECK(std::to_string(process.at("pid").get<long>()) == oracle.at(rank + ".pid"));
    CHECK(process.at("host") == oracle.at(rank + ".host"));
    CHECK(process.at("executable") == oracle.at(rank + ".exe"));
    CHECK(process.at("local") == true);
    CHECK(process.at("state") == state);
  }
}

struct variant {
  std::string name;
  std::vector<std::string> options;
};

std::vector<variant> variants() {
  std::vector<variant> all = {{"starter_pie", {}},
                              {"starter_no_pie", {}},
                              {"starter_static", {}},
                              {"starter_static_pie", {}},
                              {"starter_stripped", {}},
                              {"starter_build_id", {"--debug-dir", fixture("debug")}},
                              {"starter_debuglink", {}},
                              {"starter_library", {}},
                              {"starter_copied", {}},
                              {"starter_loads_later", {}},
                              {"starter_extended_procdesc", {}}};
#ifdef MPIACQ_HAVE_32_BIT_STARTERS
  for (const char* name : {"starter_32", "starter_32_no_pie", "starter_32_static", "starter_32_stripped"}) {
    all.push_back({name, {}});
  }
#endif
#ifdef MPIACQ_HAVE_MUSL_STARTERS
  for (const char* name : {"starter_musl", "starter_musl_static", "starter_musl_static_pie"}) all.push_back({name, {}});
#endif
  return all;
}

}  // namespace

TEST_CASE("a core file of the kernel gives the job that the starter had") {
  if (const auto why = why_no_kernel_core(); !why.empty()) MPIACQ_SKIP(why);
  for (const variant& v : variants()) {
    INFO(v.name);
    held_starter starter{{fixture(v.name)}};
    REQUIRE(starter.is_ready);
    const auto oracle = starter.oracle();
    allow_core(starter.process->pid());
    const int signal = v.name == "starter_pie" ? SIGSEGV : SIGABRT;
    ::kill(static_cast<pid_t>(starter.process->pid().value()), signal);
    REQUIRE(WIFSIGNALED(starter.process->end()));
    // The ranks end because their pipe does.
    for (int rank = 0; rank < 4; ++rank) {
      const long pid = std::stol(oracle.at("rank." + std::to_string(rank) + ".pid"));
      REQUIRE(comes_true([&] { return process_state(pid) == ' ' || process_state(pid) == 'Z'; }));
    }
    const auto core = core_in(starter.folder.path("cores"));
    REQUIRE(core.has_value());
    const reported seen = attach_core(*core, v.options);
    check_report(seen, oracle, "gone");
    CHECK(seen.report.at("starter").at("core").at("file") == *core);
    CHECK(seen.report.at("starter").at("core").at("signal") == signal);
  }
}

TEST_CASE("a core file of gcore gives the job of the running starter") {
  for (const variant& v : variants()) {
    INFO(v.name);
    held_starter starter{{fixture(v.name)}};
    REQUIRE(starter.is_ready);
    const auto core = core_by_gcore(starter.process->pid(), starter.folder.path("cores"));
    if (!core) MPIACQ_SKIP("gcore (gdb) is not installed, or may not trace");
    check_report(attach_core(*core, v.options), starter.oracle(), "running");
    CHECK(starter.process->end() == 0);
    CHECK(starter.oracle().at("being_debugged_at_end") == "0");
  }
}

TEST_CASE("a core file of QEMU gives the job of a big-endian starter") {
#ifdef MPIACQ_QEMU_S390X
  const bool is_dynamic = GENERATE(true, false);
  const std::string program = fixture(is_dynamic ? "starter_s390x" : "starter_s390x_static");
  const std::string sysroot = "/usr/s390x-linux-gnu";
  held_starter starter{{MPIACQ_QEMU_S390X, "-L", sysroot, program}};
  REQUIRE(starter.is_ready);
  const auto oracle = starter.oracle();
  allow_core(starter.process->pid());
  ::kill(static_cast<pid_t>(starter.process->pid().value()), SIGABRT);
  REQUIRE(WIFSIGNALED(starter.process->end()));
  std::string core;
  for (const auto& entry : std::filesystem::directory_iterator{starter.folder.path("cores")}) {
    if (entry.path().filename().string().starts_with("qemu_")) core = entry.path().string();
  }
  REQUIRE_FALSE(core.empty());
  // QEMU dumps no code and does not list what was mapped: the program is known by its headers and entry point.
  const reported seen = attach_core(core, {"--executable", program, "--sysroot", sysroot});
  INFO(seen.command.out);
  REQUIRE(seen.command.exit_code == 0);
  REQUIRE(seen.report.at("processes").size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(std::to_string(seen.report.at("processes")[i].at("pid").get<long>()) ==
          oracle.at("rank." + std::to_string(i) + ".pid"));
    CHECK(seen.report.at("processes")[i].at("executable") == oracle.at("rank." + std::to_string(i) + ".exe"));
  }
  CHECK(seen.report.at("starter").at("pid") == std::stol(oracle.at("starter_pid")));
  CHECK(seen.report.at("layout").at("source") == "dwarf");
  for (const auto& [name, symbol] : seen.report.at("symbols").items()) {
    INFO(name);
    CHECK(std::stoull(symbol.at("address").get<std::string>(), nullptr, 16) ==
          std::stoull(oracle.at("symbol." + name), nullptr, 16));
  }

  // Another program is not taken for it.
  const reported wrong = attach_core(core, {"--executable", fixture("starter_pie")});
  CHECK(wrong.command.exit_code == 125);
  CHECK_THAT(wrong.command.err, ContainsSubstring("does not fit"));
#else
  MPIACQ_SKIP("qemu-user and gcc-s390x-linux-gnu are not installed");
#endif
}

TEST_CASE("the report of a core file says that the starter was aborting its job") {
  if (const auto why = why_no_kernel_core(); !why.empty()) MPIACQ_SKIP(why);
  held_starter starter{{fixture("starter_three_states")}};
  REQUIRE(starter.is_ready);
  allow_core(starter.process->pid());
  ::kill(static_cast<pid_t>(starter.process->pid().value()), SIGABRT);
  REQUIRE(WIFSIGNALED(starter.process->end()));
  const auto core = core_in(starter.folder.path("cores"));
  REQUIRE(core.has_value());
  const reported seen = attach_core(*core);
  REQUIRE(seen.command.exit_code == 0);
  CHECK(seen.report.at("event") == "aborting");
  CHECK(seen.report.at("abort_reason") == starter.oracle().at("abort_string"));
  CHECK(seen.report.at("processes").size() == 4);
  const auto text = run_command({MPIACQ_COMMAND, "attach", "--core", *core});
  CHECK_THAT(text.out, ContainsSubstring("had spawned 4 processes on 1 host, and was aborting the job: " +
                                         starter.oracle().at("abort_string")));
}

TEST_CASE("the report of a core file without the interface names what is missing") {
  if (const auto why = why_no_kernel_core(); !why.empty()) MPIACQ_SKIP(why);
  const scratch_folder folder;
  command_options how;
  how.directory = std::filesystem::path(folder.path("x")).parent_path().string();
  const auto died = run_command({"sh", "-c", "ulimit -c unlimited; kill -ABRT $$"}, how);
  REQUIRE(died.signal == SIGABRT);
  const auto core = core_in(how.directory);
  REQUIRE(core.has_value());
  const auto text = run_command({MPIACQ_COMMAND, "attach", "--core", *core});
  CHECK(text.exit_code == 125);
  CHECK_THAT(text.out, ContainsSubstring("lacking:"));
  CHECK_THAT(text.out, ContainsSubstring("MPIR_Breakpoint"));
}

TEST_CASE("a file that is no core file is refused with a sentence") {
  const auto program = run_command({MPIACQ_COMMAND, "attach", "--core", fixture("starter_pie")});
  CHECK(program.exit_code == 125);
  CHECK_THAT(program.err, ContainsSubstring("not a core file but a program"));
  const auto absent = run_command({MPIACQ_COMMAND, "attach", "--core", "/nowhere/core"});
  CHECK(absent.exit_code == 125);
  CHECK_THAT(absent.err, ContainsSubstring("/nowhere/core"));
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdlib>
#include <fstream>

#include <sys/resource.h>
#include <sys/stat.h>

#include "inferior.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// A folder for files that a test makes, and its end.
struct folder_of_files {
  folder_of_files() {
    char pattern[] = "/tmp/mpiacq-test-XXXXXX";
    REQUIRE(::mkdtemp(pattern) != nullptr);
    path = pattern;
  }
  ~folder_of_files() {
    for (const std::string& name : files) ::unlink(name.c_str());
    ::rmdir(path.c_str());
  }
  std::string file(const std::string& name, const std::string& content, mode_t mode) {
    files.push_back(path + "/" + name);
    std::ofstream(files.back()) << content;
    ::chmod(files.back().c_str(), mode);
    return files.back();
  }
  std::string path;
  std::vector<std::string> files;
};

error launch_error(const std::string& program) {
  const auto t = new_tracer();
  const auto launched = t->launch({.arguments = {program}, .environment = {}, .kill_with_tool = false});
  REQUIRE_FALSE(launched.has_value());
  INFO(launched.error().message);
  // Nothing is left of the attempt.
  CHECK_FALSE(t->wait().has_value());
  return launched.error();
}

std::string bytes_of(const std::string& path, std::size_t count) {
  std::string bytes(count, '\0');
  std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(count));
  return bytes;
}

/// PATH for as long as it lives.
struct path_is {
  explicit path_is(const std::string& value) : before(std::getenv("PATH")) { ::setenv("PATH", value.c_str(), 1); }
  ~path_is() { ::setenv("PATH", before.c_str(), 1); }
  std::string before;
};

}  // namespace

TEST_CASE("the exit status of a launched program is exact") {
  const int code = GENERATE(0, 3, 255);
  const auto t = new_tracer();
  inferior program("end_as", {"exit", std::to_string(code)});
  const process_id id = at_entry(*t, program);
  CHECK(run_to_end(*t, id) == exit_status{false, code, false});
}

TEST_CASE("the signal that ends a launched program is exact, with or without a core") {
  const int signal = GENERATE(SIGKILL, SIGSEGV, SIGTERM);
  const auto t = new_tracer();
  rlimit cores{};
  ::getrlimit(RLIMIT_CORE, &cores);
  const rlimit none{0, cores.rlim_max};
  ::setrlimit(RLIMIT_CORE, &none);
  inferior program("end_as", {"signal", std::to_string(signal)});
  const process_id id = at_entry(*t, program);
  const exit_status status = run_to_end(*t, id);
  ::setrlimit(RLIMIT_CORE, &cores);
  CHECK(status == exit_status{true, signal, false});
  CHECK(status.as_shell() == 128 + signal);
}

TEST_CASE("at the entry point nothing of the program has run, and its libraries are mapped") {
  const auto t = new_tracer();
  inferior program("constructor_notes");
  const process_id id = at_entry(*t, program);
  CHECK(program.silent());
  std::ifstream maps("/proc/" + std::to_string(id.value()) + "/maps");
  const std::string text((std::istreambuf_iterator<char>(maps)), {});
  CHECK_THAT(text, ContainsSubstring("libc.so"));
  CHECK(run_to_end(*t, id).value == 0);
  CHECK(program.rest() == "constructor\nmain\n");
}

TEST_CASE("a launched program gets its arguments, its environment, the caller's directory, group and signal mask") {
  const auto t = new_tracer();
  inferior program("environment", {"one", "", "two words"});
  program.request.environment->push_back("MPIACQ_TEST_VALUE=so it is");
  sigset_t mask;
  sigset_t before;
  ::sigemptyset(&mask);
  ::sigaddset(&mask, SIGUSR2);
  ::pthread_sigmask(SIG_SETMASK, &mask, &before);
  const process_id id = at_entry(*t, program);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  CHECK(run_to_end(*t, id).value == 0);
  char directory[4096];
  REQUIRE(::getcwd(directory, sizeof directory) != nullptr);
  CHECK(program.rest() == "argument one\nargument \nargument two words\nvalue so it is\ndirectory " +
                              std::string(directory) + "\nblocked " + std::to_string(SIGUSR2) +
                              "\ngroup of parent 1\n");
}

TEST_CASE("this process's own environment is the default, and standard output is inherited") {
  const auto t = new_tracer();
  ::setenv("MPIACQ_TEST_VALUE", "inherited", 1);
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const int kept = ::dup(1);
  ::dup2(ends[1], 1);
  const auto id = t->launch({.arguments = {program_path("environment")}, .environment = {}, .kill_with_tool = false});
  ::dup2(kept, 1);
  ::close(kept);
  ::close(ends[1]);
  ok(id);
  next<entry_reached>(*t);
  CHECK(run_to_end(*t, *id).value == 0);
  char text[65536];
  std::string all;
  for (ssize_t got = 0; (got = ::read(ends[0], text, sizeof text)) > 0;)
    all.append(text, static_cast<std::size_t>(got));
  ::close(ends[0]);
  CHECK_THAT(all, ContainsSubstring("value inherited\n"));
}

TEST_CASE("a name without a slash is looked up in PATH") {
  const folder_of_files folder;
  const path_is path("/nonexistent::" + folder.path + ":" MPIACQ_PROGRAMS);
  const auto t = new_tracer();
  inferior program("end_as", {"exit", "3"});
  program.request.arguments.front() = "end_as";
  const process_id id = at_entry(*t, program);
  CHECK(run_to_end(*t, id).value == 3);
}

TEST_CASE("launching a program that does not exist gives not_found with its name") {
  const error nowhere = launch_error("mpiacq-no-such-program");
  CHECK(nowhere.code == error_code::not_found);
  CHECK_THAT(nowhere.message, ContainsSubstring("mpiacq-no-such-program") && ContainsSubstring("PATH"));
  CHECK(launch_error("/nonexistent/program").code == error_code::not_found);
  CHECK(launch_error("/etc/passwd/program").code == error_code::not_found);
  CHECK(launch_error("").code == error_code::not_found);
  const auto t = new_tracer();
  CHECK(t->launch({}).error().code == error_code::invalid_argument);
}

TEST_CASE("the error about a program that cannot be run says why") {
  folder_of_files folder;
  const error directory = launch_error(folder.path);
  CHECK(directory.code == error_code::permission);
  CHECK_THAT(directory.message, ContainsSubstring("is a directory"));

  const error plain = launch_error(folder.file("plain", "echo\n", 0644));
  CHECK(plain.code == error_code::permission);
  CHECK_THAT(plain.message, ContainsSubstring("not executable"));

  const error empty = launch_error(folder.file("empty", "", 0755));
  CHECK(empty.code == error_code::exec_failed);
  CHECK(empty.system_errno == ENOEXEC);
  CHECK_THAT(empty.message, ContainsSubstring("is empty"));

  const error script = launch_error(folder.file("script", "#! /nonexistent/perl -w\n", 0755));
  CHECK(script.code == error_code::exec_failed);
  CHECK_THAT(script.message, ContainsSubstring("/nonexistent/perl") && ContainsSubstring("#!"));

  std::string head = bytes_of(program_path("echo"), 4096);
  const error truncated = launch_error(folder.file("truncated", head.substr(0, 40), 0755));
  CHECK(truncated.code == error_code::exec_failed);
  const error cut = launch_error(folder.file("cut", head.substr(0, 1000), 0755));
  INFO(cut.message);
  CHECK(cut.code == error_code::exec_failed);

  head[18] = static_cast<char>(243);  // e_machine: RISC-V
  const error foreign = launch_error(folder.file("foreign", head, 0755));
  CHECK(foreign.code == error_code::exec_failed);
  CHECK_THAT(foreign.message, ContainsSubstring("another machine (RISC-V)"));

  const error binary = launch_error(folder.file("binary", std::string("ab\0cd\n", 6), 0755));
  CHECK(binary.code == error_code::exec_failed);
}

TEST_CASE("the error tells a program in PATH that may not be run from a missing one") {
  folder_of_files folder;
  folder.file("mpiacq-plain", "echo\n", 0644);
  const path_is path(folder.path + ":/nonexistent");
  const error e = launch_error("mpiacq-plain");
  CHECK(e.code == error_code::permission);
  CHECK_THAT(e.message, ContainsSubstring(folder.path + "/mpiacq-plain"));
}

TEST_CASE("scripts run: by their interpreter line, and without one by the shell") {
  folder_of_files folder;
  const std::string path = folder.file("script", GENERATE("#!/bin/sh\nexit 7\n", "exit 7\n"), 0755);
  const auto t = new_tracer();
  const auto id = t->launch({.arguments = {path}, .environment = {}, .kill_with_tool = false});
  ok(id);
  next<entry_reached>(*t);
  CHECK(run_to_end(*t, *id).value == 7);
}

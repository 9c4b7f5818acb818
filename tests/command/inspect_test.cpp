// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <sstream>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"
#include "launched.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

json inspect(const std::string& subject) {
  const auto run = run_command({MPIACQ_COMMAND, "inspect", "--json", subject});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  return json::parse(run.out);
}

/// What nm says: the value of a symbol in the file itself.
std::string nm_address(const std::string& file, const std::string& name) {
  std::istringstream lines(run_command({"nm", file}).out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string address, kind, symbol;
    if (words >> address >> kind >> symbol && symbol == name) return address;
  }
  return "0";
}

}  // namespace

TEST_CASE("a file's symbols are where nm says") {
  for (const std::string starter : {"starter_pie", "starter_no_pie", "starter_static"}) {
    INFO(starter);
    const json found = inspect(fixture(starter));
    CHECK(found.at("schema") == "mpiacq.inspect/1");
    CHECK(found.at("lacking").is_null());
    for (const char* name : {"MPIR_Breakpoint", "MPIR_proctable", "MPIR_debug_state"}) {
      CHECK(std::stoull(found.at("symbols").at(name).at("address").get<std::string>(), nullptr, 16) ==
            std::stoull(nm_address(fixture(starter), name), nullptr, 16));
    }
    CHECK(found.at("layout").at("source") == "dwarf");
  }
}

TEST_CASE("a file's symbols and types are found in its separate debug file") {
  const auto run =
      run_command({MPIACQ_COMMAND, "inspect", "--json", "--debug-dir", fixture("debug"), fixture("starter_build_id")});
  REQUIRE(run.exit_code == 0);
  const json found = json::parse(run.out);
  CHECK(found.at("lacking").is_null());
  CHECK(found.at("layout").at("source") == "debug-file");
  CHECK(found.at("layout").at("file").get<std::string>().rfind(fixture("debug"), 0) == 0);
}

TEST_CASE("symbols in a library that the file needs are found, with the library as their module") {
  const json found = inspect(fixture("starter_library"));
  CHECK(found.at("lacking").is_null());
  CHECK_THAT(found.at("symbols").at("MPIR_Breakpoint").at("module").get<std::string>(),
             ContainsSubstring("libstarter_whole.so"));
}

TEST_CASE("inspect names the symbols that a file lacks") {
  const json found = inspect(fixture("starter_stripped_bare"));
  CHECK_THAT(found.at("lacking").get<std::string>(), ContainsSubstring("build id"));
  CHECK_THAT(inspect("/bin/true").at("lacking").get<std::string>(), ContainsSubstring("MPIR_Breakpoint"));
}

TEST_CASE("a running process is inspected without being stopped or attached to") {
  const scratch_folder folder;
  std::array<int, 2> in{}, out{};
  REQUIRE(::pipe(in.data()) == 0);
  REQUIRE(::pipe(out.data()) == 0);
  ::setenv("MPIACQ_ORACLE", folder.path("oracle").c_str(), 1);
  const pid_t starter = ::fork();
  if (starter == 0) {
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::close(in[1]);
    ::execl(fixture("starter_pie").c_str(), "starter_pie", "--hold", nullptr);
    ::_exit(99);
  }
  ::unsetenv("MPIACQ_ORACLE");
  ::close(in[0]);
  ::close(out[1]);
  std::array<char, 6> ready{};
  REQUIRE(::read(out[0], ready.data(), ready.size()) == 6);

  const json found = inspect(std::to_string(starter));
  CHECK(found.at("pid") == starter);
  const auto oracle = read_oracle(folder.path("oracle"));
  for (const auto& [name, symbol] : found.at("symbols").items()) {
    INFO(name);
    CHECK(std::stoull(symbol.at("address").get<std::string>(), nullptr, 16) ==
          std::stoull(oracle.at("symbol." + name), nullptr, 16));
  }
  CHECK(oracle.at("being_debugged_at_start") == "0");
  ::close(in[1]);
  int status = 0;
  REQUIRE(::waitpid(starter, &status, 0) == starter);
  CHECK(WIFEXITED(status));
  ::close(out[0]);
}

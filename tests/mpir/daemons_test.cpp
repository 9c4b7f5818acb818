// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Tool daemons: the encoding of 9.15 and 9.16, the order of 7.1 and 7.2, and the restored variables.
#include "action_checks.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::mpir;
using namespace std::string_literals;

namespace {

std::string text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct daemon_starter {
  explicit daemon_starter(const target_abi& abi = lp64_little, std::size_t path_size = 256,
                          std::size_t arguments_size = 1024)
      : starter(abi) {
    starter.define_interface();
    path_at = starter.variable("MPIR_executable_path", path_size);
    arguments_at = starter.variable("MPIR_server_arguments", arguments_size);
  }
  acquisition asking(daemon_request request) { return acquisition({{}, std::move(request), false}); }
  /// A table of one rank, published as by a starter without a tool.
  void run() {
    const auto name = starter.string("n1");
    starter.publish({{name, name, 41}});
  }
  void fifo(const std::string& path, std::size_t size = 256) {
    const auto where = starter.variable("MPIR_attach_fifo", size);
    for (std::size_t i = 0; i < path.size(); ++i) starter.poke(where + i, path[i], 1);
  }

  fake_starter starter;
  target_address path_at, arguments_at;
};

const daemon_request callback{"/opt/tool/daemon", {"-callback", "10.0.0.10", "-name", "has spaces and\ttabs"}, false};
const std::string callback_encoded =
    "-callback\0"
    "10.0.0.10\0"
    "-name\0"
    "has spaces and\ttabs\0\0"s;

}  // namespace

TEST_CASE("arguments are encoded as the document's own example is (9.16)") {
  CHECK(text(encode_server_arguments(callback.arguments, 1024).value()) == callback_encoded);
  CHECK(text(encode_server_arguments({}, 1024).value()) == "\0"s);
  CHECK(text(encode_server_arguments(std::vector<std::string>{"a"}, 3).value()) == "a\0\0"s);
}

TEST_CASE("arguments that do not fit are refused with the limit and the need") {
  const std::vector<std::string> arguments{std::string(1000, 'x'), std::string(20, 'y')};
  CHECK(encode_server_arguments(arguments, 1023).has_value());
  const auto refused = encode_server_arguments(arguments, 1022);
  CHECK(refused.error().code == error_code::limit);
  CHECK_THAT(refused.error().message, ContainsSubstring("take 1023 bytes") && ContainsSubstring("has 1022"));
  CHECK(encode_server_arguments({}, 0).error().code == error_code::limit);
}

TEST_CASE("an argument that cannot be encoded is refused, and the error gives its place") {
  const std::vector<std::string> empty{"-a", "", "-b"};
  CHECK(encode_server_arguments(empty, 1024).error().code == error_code::invalid_argument);
  CHECK_THAT(encode_server_arguments(empty, 1024).error().message, ContainsSubstring("argument 2 is empty"));
  const std::vector<std::string> null{"a\0b"s};
  CHECK_THAT(encode_server_arguments(null, 1024).error().message, ContainsSubstring("argument 1 has a null byte at 1"));
}

TEST_CASE("the daemon's path") {
  CHECK(text(encode_executable_path("/d", 3).value()) == "/d\0"s);
  CHECK(encode_executable_path("/d", 2).error().code == error_code::limit);
  CHECK_THAT(encode_executable_path("/d", 2).error().message, ContainsSubstring("takes 3 bytes"));
  CHECK(encode_executable_path("", 256).error().code == error_code::invalid_argument);
  CHECK(encode_executable_path("/a\0b"s, 256).error().code == error_code::invalid_argument);
}

TEST_CASE("launch: path and arguments before being_debugged (7.1), and the event says that they run") {
  for (const target_abi& abi : every_abi) {
    INFO(abi_title(abi));
    daemon_starter s(abi);
    acquisition a = s.asking(callback);
    const auto todo = expect(a.at_entry(s.starter.as_target()));
    CHECK(steps(todo) ==
          words{"write MPIR_executable_path", "write MPIR_server_arguments", "write MPIR_being_debugged", "plant"});
    carry_out(s.starter, todo);
    CHECK(text_at(s.starter, s.path_at, 17) == "/opt/tool/daemon\0"s);
    CHECK(text_at(s.starter, s.arguments_at, callback_encoded.size()) == callback_encoded);
    CHECK(a.facts().daemons == daemon_launch::at_spawn);
    CHECK(a.facts().can_launch_daemons);
    s.run();
    CHECK(steps(expect(a.at_breakpoint(s.starter.as_target()))) == words{"report 1", "daemons"});
    CHECK(a.facts().daemons == daemon_launch::done);
    CHECK(steps(expect(a.at_breakpoint(s.starter.as_target()))).empty());
  }
}

TEST_CASE("launch: a table that is complete before the spawn event is reported with it, when the daemons run") {
  daemon_starter s;
  acquisition a = s.asking(callback);
  carry_out(s.starter, expect(a.at_entry(s.starter.as_target())));
  s.run();
  const auto looks = [&] { return steps(expect(a.look_again(s.starter.as_target()))); };
  CHECK(steps(expect(a.at_state_written(s.starter.as_target()))) == words{"await 0 of 0"});
  SECTION("the event comes") {
    for (int look = 0; look < 20; ++look) CHECK(looks() == words{"await 0 of 0"});
    CHECK(a.facts().daemons == daemon_launch::at_spawn);
    CHECK(steps(expect(a.at_breakpoint(s.starter.as_target()))) == words{"report 1", "daemons"});
    CHECK(a.facts().daemons == daemon_launch::done);
    CHECK(looks().empty());
  }
  SECTION("it never comes: the table is reported in the end") {
    int count = 0;
    for (auto told = looks(); told != words{"report 1"}; told = looks()) {
      REQUIRE(told == words{"await 0 of 0"});
      REQUIRE(++count < 1000);
    }
    CHECK(a.facts().daemons == daemon_launch::at_spawn);
  }
}

TEST_CASE("launch: being_debugged waits for the daemons' variables, which a library brings") {
  daemon_starter s;
  s.starter.symbols.remove("MPIR_executable_path");
  s.starter.symbols.remove("MPIR_Breakpoint");
  acquisition a = s.asking(callback);
  CHECK(steps(expect(a.at_entry(s.starter.as_target()))) == words{"modules"});
  s.starter.variable("MPIR_executable_path", 256);
  CHECK(steps(expect(a.modules_changed(s.starter.as_target()))) ==
        words{"write MPIR_executable_path", "write MPIR_server_arguments", "write MPIR_being_debugged", "modules"});
  s.starter.symbols.define("MPIR_Breakpoint", target_address{0x12340});
  CHECK(steps(expect(a.modules_changed(s.starter.as_target()))) == words{"plant"});
}

TEST_CASE("attach: 7.1, then being_debugged, the breakpoint, then the byte into the FIFO (7.2)") {
  daemon_starter s;
  s.fifo("/tmp/session/debugger_attach_fifo", 512);
  s.run();
  acquisition a = s.asking(callback);
  const auto todo = expect(a.at_attach(s.starter.as_target()));
  CHECK(steps(todo) == words{"report 1", "write MPIR_executable_path", "write MPIR_server_arguments",
                             "write MPIR_being_debugged", "plant", "kick /tmp/session/debugger_attach_fifo"});
  CHECK(a.facts().daemons == daemon_launch::by_fifo);
  CHECK(a.facts().attach_fifo == "/tmp/session/debugger_attach_fifo");
  CHECK(steps(expect(a.at_breakpoint(s.starter.as_target()))) == words{"daemons"});
}

TEST_CASE("attach: without a FIFO the starter polls, and the facts of the job say so") {
  daemon_starter s;
  s.run();
  SECTION("no symbol") {}
  SECTION("an empty path") {
    s.fifo("");
  }
  acquisition a = s.asking(callback);
  CHECK(steps(expect(a.at_attach(s.starter.as_target()))) == words{"report 1", "write MPIR_executable_path",
                                                                   "write MPIR_server_arguments",
                                                                   "write MPIR_being_debugged", "plant"});
  CHECK(a.facts().daemons == daemon_launch::by_polling);
  CHECK_FALSE(a.facts().attach_fifo.has_value());
}

TEST_CASE("attach: a FIFO's path is bounded by its array") {
  daemon_starter s;
  s.run();
  SECTION("a full array has no null") {
    s.fifo(std::string(16, 'f'), 16);
  }
  SECTION("a symbol without a size has the document's") {
    const auto where = s.starter.variable("MPIR_attach_fifo", 512, 0);
    for (std::size_t i = 0; i < 512; ++i) s.starter.poke(where + i, 'f', 1);
  }
  acquisition a = s.asking(callback);
  (void)expect(a.at_attach(s.starter.as_target()));
  const std::size_t size = a.symbols()->operator[](known::attach_fifo)->size;
  CHECK(a.facts().attach_fifo == std::string(size == 0 ? 256 : 16, 'f'));
}

TEST_CASE("attach: no daemons, no byte into the FIFO") {
  daemon_starter s;
  s.fifo("/tmp/fifo");
  s.run();
  acquisition a;
  CHECK(steps(expect(a.at_attach(s.starter.as_target()))) == words{"report 1", "write MPIR_being_debugged", "plant"});
}

TEST_CASE("the sizes of the arrays are those of the symbols, or the document's if a symbol has none") {
  const std::string path(300, 'p');
  SECTION("512 bytes, as in Open MPI") {
    daemon_starter s(lp64_little, 512);
    acquisition a = s.asking({"/" + path, {}, false});
    CHECK(steps(expect(a.at_entry(s.starter.as_target())))[0] == "write MPIR_executable_path");
  }
  SECTION("no size") {
    daemon_starter s(lp64_little, 512);
    s.starter.variable("MPIR_executable_path", 512, 0);
    acquisition a = s.asking({"/" + path, {}, false});
    const auto todo = expect(a.at_entry(s.starter.as_target()));
    CHECK(steps(todo) == words{"problem", "write MPIR_being_debugged", "plant"});
    CHECK_THAT(std::get<report_problem>(todo[0]).what.message,
               ContainsSubstring("takes 302 bytes") && ContainsSubstring("has 256"));
  }
}

TEST_CASE("a request that cannot be met is a problem, and nothing of it is written") {
  daemon_starter s;
  s.fifo("/tmp/fifo");
  s.run();
  daemon_request request = callback;
  error_code code = error_code::invalid_argument;
  std::string says;
  SECTION("no variable for the path") {
    s.starter.symbols.remove("MPIR_executable_path");
    code = error_code::unsupported;
    says = "it has no MPIR_executable_path (MPIR 1.1, 7.1)";
  }
  SECTION("neither variable") {
    s.starter.symbols.remove("MPIR_executable_path");
    s.starter.symbols.remove("MPIR_server_arguments");
    code = error_code::unsupported;
    says = "it has no MPIR_executable_path and MPIR_server_arguments";
  }
  SECTION("arguments that are too long") {
    request.arguments.emplace_back(1024, 'x');
    code = error_code::limit;
    says = "MPIR_server_arguments has 1024";
  }
  SECTION("an empty argument") {
    request.arguments.emplace_back();
    says = "argument 5 is empty";
  }
  SECTION("arguments that run out of memory") {
    s.starter.symbols.define("MPIR_server_arguments", target_address{0x77777000}, 1024);
    code = error_code::unreadable_memory;
    says = "reading MPIR_server_arguments";
  }
  for (const bool attach : {false, true}) {
    acquisition a = s.asking(request);
    const auto todo = expect(attach ? a.at_attach(s.starter.as_target()) : a.at_entry(s.starter.as_target()));
    words expected{"problem", "write MPIR_being_debugged", "plant"};
    if (attach) expected.insert(expected.begin(), "report 1");
    CHECK(steps(todo) == expected);
    const error& what = std::get<report_problem>(todo[attach ? 1 : 0]).what;
    CHECK(what.code == code);
    CHECK_THAT(what.message, ContainsSubstring(says));
    CHECK(a.facts().daemons == daemon_launch::refused);
    CHECK(steps(expect(a.before_detach(s.starter.as_target()))) == words{"write MPIR_being_debugged", "lift"});
  }
}

TEST_CASE("output is forwarded if the tool requests it and the starter can do so") {
  daemon_starter s(ilp32_big);
  daemon_request request = callback;
  request.forward_output = true;
  SECTION("it can") {
    s.starter.variable("MPIR_forward_output", 4);
    acquisition a = s.asking(request);
    const auto todo = expect(a.at_entry(s.starter.as_target()));
    CHECK(steps(todo) == words{"write MPIR_executable_path", "write MPIR_server_arguments", "write MPIR_forward_output",
                               "write MPIR_being_debugged", "plant"});
    carry_out(s.starter, todo);
    CHECK(s.starter.get("MPIR_forward_output") == 1);
    carry_out(s.starter, expect(a.before_detach(s.starter.as_target())));
    CHECK(s.starter.get("MPIR_forward_output") == 0);
  }
  SECTION("it cannot: the daemons are launched all the same") {
    acquisition a = s.asking(request);
    const auto todo = expect(a.at_entry(s.starter.as_target()));
    CHECK(steps(todo) == words{"write MPIR_executable_path", "write MPIR_server_arguments", "problem",
                               "write MPIR_being_debugged", "plant"});
    CHECK_FALSE(a.facts().can_forward_output);
  }
}

TEST_CASE("before a detach being_debugged is 0, then all variables have their old values") {
  daemon_starter s;
  s.run();
  const std::string left = "/another/tool/with/a/longer/path";
  for (std::size_t i = 0; i < left.size(); ++i) s.starter.poke(s.path_at + i, left[i], 1);
  const std::string before = text_at(s.starter, fake_starter::variables, 4096);
  acquisition a = s.asking(callback);
  carry_out(s.starter, expect(a.at_attach(s.starter.as_target())));
  CHECK(text_at(s.starter, s.path_at, 17) == "/opt/tool/daemon\0"s);
  const auto letting_go = expect(a.before_detach(s.starter.as_target()));
  CHECK(steps(letting_go) ==
        words{"write MPIR_being_debugged", "write MPIR_server_arguments", "write MPIR_executable_path", "lift"});
  carry_out(s.starter, letting_go);
  CHECK(text_at(s.starter, fake_starter::variables, 4096) == before);
  CHECK(expect(a.before_detach(s.starter.as_target())).empty());
}

TEST_CASE("being_debugged does not launch a daemon whose path another tool has left") {
  daemon_starter s;
  s.run();
  for (std::size_t i = 0; i < 4; ++i) s.starter.poke(s.path_at + i, "/old"[i], 1);
  const std::string before = text_at(s.starter, fake_starter::variables, 4096);
  acquisition a;
  const auto todo = expect(a.at_attach(s.starter.as_target()));
  CHECK(steps(todo) ==
        words{"report 1", "problem", "write MPIR_executable_path", "write MPIR_being_debugged", "plant"});
  CHECK_THAT(std::get<report_problem>(todo[1]).what.message, ContainsSubstring("MPIR_executable_path is \"/old\""));
  carry_out(s.starter, todo);
  CHECK(text_at(s.starter, s.path_at, 1) == "\0"s);
  carry_out(s.starter, expect(a.before_detach(s.starter.as_target())));
  CHECK(text_at(s.starter, fake_starter::variables, 4096) == before);
}

TEST_CASE("the request outlives an exec") {
  daemon_starter shell;
  shell.starter.symbols.remove("MPIR_Breakpoint");
  shell.starter.symbols.remove("MPIR_executable_path");
  acquisition a = shell.asking(callback);
  CHECK(steps(expect(a.at_entry(shell.starter.as_target()))) == words{"modules"});
  daemon_starter real;
  CHECK(steps(expect(a.at_entry(real.starter.as_target())))[0] == "write MPIR_executable_path");
}

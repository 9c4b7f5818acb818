// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "proc/proc_text.hpp"

#include "catch.hpp"

using namespace mpiacq;
using namespace std::string_literals;
using namespace std::string_view_literals;

namespace {

/// The fields 4 to 52. Each has its number in proc_pid_stat(5) as its value, except those that a test replaces.
std::string numbered_fields(int last = 52) {
  std::string text;
  for (int field = 4; field <= last; ++field) text += " " + std::to_string(field);
  return text + "\n";
}

}  // namespace

TEST_CASE("each field of /proc/PID/stat is read from its own place") {
  const process_stat stat = parse_process_stat("77 (a name) S" + numbered_fields()).value();
  CHECK(stat.name == "a name");
  CHECK(stat.state == 'S');
  CHECK(stat.parent == process_id{4});
  CHECK(stat.group == 5);
  CHECK(stat.session == 6);
  CHECK(stat.flags == 9);
  CHECK(stat.faults_of_ended_children == 11);
  CHECK(stat.start_time == 22);
  CHECK(stat.memory_size == 23);
  CHECK(stat.code_begin == 26);
  CHECK(stat.code_end == 27);
  CHECK(stat.stack_begin == 28);
  CHECK(stat.words == std::array<std::uint64_t, 4>{48, 49, 50, 51});
}

TEST_CASE("a process's name cannot forge a field of /proc/PID/stat") {
  for (const std::string& name : {"x) Z 1 2"s, ")"s, "("s, ""s, ") "s, "a\nb"s, "\0 (\0"s}) {
    INFO(name);
    const auto stat = parse_process_stat("77 (" + name + ") R" + numbered_fields());
    REQUIRE(stat);
    CHECK(stat->name == name);
    CHECK(stat->state == 'R');
    CHECK(stat->start_time == 22);
  }
}

TEST_CASE("a text that is no /proc/PID/stat is rejected, and one of an old kernel is not") {
  for (const std::string& wrong :
       {""s, "77"s, "77 (x)"s, "77 (x) "s, "77 x) S 4"s, "77 (x) S"s, ") ("s, "77 (x) S" + numbered_fields(21),
        "77 (x) SS" + numbered_fields(), "77 (x) S -1 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22"s,
        "77 (x) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 99999999999999999999999"s}) {
    INFO(wrong);
    CHECK_FALSE(parse_process_stat(wrong));
  }
  const auto old = parse_process_stat("77 (x) S" + numbered_fields(22));
  REQUIRE(old);
  CHECK(old->start_time == 22);
  CHECK(old->words.front() == 0);
}

TEST_CASE("the state letter of a process decides whether it runs") {
  const auto run = [](char state) {
    process_stat stat;
    stat.state = state;
    return stat.run();
  };
  for (const char state : "RSDIKPW"s) CHECK(run(state) == run_state::running);
  CHECK(run('T') == run_state::stopped);
  CHECK(run('t') == run_state::traced);
  for (const char state : "ZXx"s) CHECK(run(state) == run_state::gone);
}

TEST_CASE("a line of /proc/PID/status is found by its whole name") {
  const auto status = "Name:\tUid:\nState:\tS (sleeping)\nXUid:\t9\nUid:\t 1\t2\nLast:\t7"sv;
  CHECK(status_line(status, "Uid") == "1\t2");
  CHECK(status_line(status, "State") == "S (sleeping)");
  CHECK(status_line(status, "Last") == "7");
  CHECK_FALSE(status_line(status, "Stat"));
  CHECK_FALSE(status_line(status, "Name"));  // the process chooses the first line
  CHECK_FALSE(status_line("", "Uid"));
  CHECK_FALSE(status_line("x\nUid", "Uid"));
  CHECK(status_line("x\nUid:", "Uid") == "");
}

TEST_CASE("a process has a number in each of its pid namespaces") {
  CHECK(parse_namespace_pids("Name:\tx\nNSpid:\t4711\t12\t1\nThreads:\t3\n") ==
        std::vector{process_id{4711}, process_id{12}, process_id{1}});
  CHECK(parse_namespace_pids("Name:\tx\nNSpid:\t4711\tx\t1\n") == std::vector{process_id{4711}});
  CHECK(parse_namespace_pids("Name:\tx\nThreads:\t3\n").empty());
  CHECK(parse_namespace_link("pid:[4026531836]") == 4026531836U);
  for (const auto wrong : {"pid:[]"sv, "pid:[12"sv, "pid:12]"sv, "pid:[12x]"sv, ""sv, ":["sv, "pid:[]]"sv}) {
    INFO(wrong);
    CHECK_FALSE(parse_namespace_link(wrong));
  }
}

TEST_CASE("a variable of an environment is found by its whole name, and the first one counts") {
  const auto environment = "PATH=/bin\0EMPTY=\0NONE\0PATHS=/x\0PATH=/usr\0LAST=a=b"sv;
  CHECK(variable_in(environment, "PATH") == "/bin");
  CHECK(variable_in(environment, "EMPTY") == "");
  CHECK(variable_in(environment, "LAST") == "a=b");
  CHECK_FALSE(variable_in(environment, "NONE"));
  CHECK_FALSE(variable_in(environment, "PAT"));
  CHECK_FALSE(variable_in("", "PATH"));
}

TEST_CASE("strings that end with null bytes are separated, empty ones too") {
  CHECK(split_strings("a\0\0b c\0"sv) == std::vector{"a"s, ""s, "b c"s});
  CHECK(split_strings("a\0b"sv) == std::vector{"a"s, "b"s});
  CHECK(split_strings("").empty());
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Conversations with PMIx libraries of every habit: the helper process, and what the tool believes of it.
#include "host/pmix_session.hpp"

#include <chrono>
#include <filesystem>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "open_descriptors.hpp"
#include "patience.hpp"
#include "pmix_fixture.hpp"

using namespace mpiacq;
using namespace mpiacq::pmix;
using namespace mpiacq::test;
using namespace std::chrono_literals;

namespace {

result<pmix_answer> answer_of(const pmix_server& server, const session_limits& limits = {}) {
  auto session = pmix_session::start(server, limits, {});
  if (!session) return fail(std::move(session).error());
  return session->ask({});
}

}  // namespace

TEST_CASE("a PMIx server's namespaces and processes come through its own library") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const auto before = open_descriptors();
  {
    auto session = pmix_session::start(fake_server(folder.copy_of("usual"), "honest", "101,102,103"), {}, {});
    REQUIRE(session);
    CHECK(session->library_version() == "5.0.7a1");
    CHECK(session->own_namespace() == "tool@2");
    for (int round = 0; round < 2; ++round) {
      const auto answer = session->ask({});
      REQUIRE(answer);
      CHECK(answer->problems.empty());
      // This program's own namespace is no job.
      REQUIRE(answer->worlds.size() == 1);
      const pmix_world& world = answer->worlds.front();
      CHECK(world.nspace == "job@1");
      CHECK_FALSE(world.spawned_by);
      REQUIRE(world.ranks.size() == 3);
      CHECK(world.ranks[2].rank == 2);
      CHECK(world.ranks[2].pid == 103);
      CHECK(world.ranks[2].executable == "/usr/bin/app");
      CHECK(world.ranks[2].host.value_or("").size() > 0);
    }
  }
  CHECK(open_descriptors() == before);
}

TEST_CASE("a PMIx session that is dropped before it connects does not touch the server") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const std::string mark = folder.path() + "/connected";
  const pmix_server server = fake_server(folder.copy_of("usual"), "marks", mark);
  { REQUIRE(pmix_session::begin_start(server, {})); }
  CHECK_FALSE(std::filesystem::exists(mark));
  REQUIRE(pmix_session::start(server, {}, {}));
  CHECK(std::filesystem::exists(mark));
}

TEST_CASE("a forked child that destroys its copy of a PMIx session leaves its parent's session alone") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  auto session = pmix_session::start(fake_server(folder.copy_of("usual"), "honest"), {}, {});
  REQUIRE(session);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    { const pmix_session copy = std::move(*session); }
    ::_exit(0);
  }
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  CHECK(session->ask({}));
}

TEST_CASE("a table of thousands of processes comes whole") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  constexpr std::size_t count = 900;
  std::string pids = "1";
  for (std::size_t i = 1; i < count; ++i) pids += "," + std::to_string(i + 1);
  const auto answer = answer_of(fake_server(folder.copy_of("usual"), "honest", pids));
  REQUIRE(answer);
  REQUIRE(answer->worlds.size() == 1);
  REQUIRE(answer->worlds[0].ranks.size() == count);
  CHECK(answer->worlds[0].ranks.back().pid == count);
}

TEST_CASE("spawned namespaces are worlds that name their parents") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const auto answer = answer_of(fake_server(folder.copy_of("usual"), "spawns"));
  REQUIRE(answer);
  REQUIRE(answer->worlds.size() == 2);
  CHECK(answer->worlds[1].nspace == "job@3");
  CHECK(answer->worlds[1].spawned_by == process_name{"job@1", 1});
  CHECK(answer->worlds[1].ranks.size() == 1);
}

TEST_CASE("another version of PMIx is found before the server is asked") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  // The habit would wait for ever.
  const auto begun = clock::now();
  for (const char* name : {"newer", "no_version"}) {
    const auto answer = answer_of(fake_server(folder.copy_of(name), "silent"));
    REQUIRE_FALSE(answer);
    INFO(answer.error().message);
    CHECK(answer.error().code == error_code::unsupported);
    CHECK(answer.error().message.find("5.0.7a1") != std::string::npos);
  }
  CHECK(clock::now() - begun < session_limits{}.answer_time);
}

TEST_CASE("a PMIx library that refuses, crashes, ends or says nothing costs an error and no more") {
  struct sample {
    std::string habit;
    error_code code;
    std::string sentence;
  };
  const auto one =
      GENERATE(sample{"refuses", error_code::system, "PMIX_ERR_UNREACH (-25)"},
               sample{"crashes", error_code::system, "SIGABRT"}, sample{"exits", error_code::system, "status 7"},
               sample{"prints", error_code::system, "a sentence of the library"},
               sample{"silent", error_code::timed_out, "did not answer in time"},
               sample{"floods", error_code::timed_out, "did not answer in time"},
               sample{"closes", error_code::system, "has"}, sample{"writes", error_code::bad_format, "no meaning"},
               sample{"tries", error_code::system, "PMIX_ERR_UNREACH (-25)"},
               sample{"silent_query", error_code::timed_out, "did not answer in time"},
               sample{"query_fails", error_code::system, "pmix.qry.ns"},
               sample{"query_refused", error_code::system, "pmix.qry.ns"},
               sample{"dies_in_table", error_code::system, "SIGSEGV"});
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  session_limits limits;
  const bool is_silent = one.code == error_code::timed_out;
  limits.answer_time = is_silent ? 300ms : std::chrono::milliseconds(patience);
  const auto before = open_descriptors();
  const auto answer = answer_of(fake_server(folder.copy_of("usual"), one.habit), limits);
  INFO(one.habit);
  REQUIRE_FALSE(answer);
  INFO(answer.error().message);
  CHECK(answer.error().code == one.code);
  CHECK(answer.error().message.find(one.sentence) != std::string::npos);
  CHECK(open_descriptors() == before);
}

TEST_CASE("answers of wrong types, counts and pointers are no tables") {
  const auto habit =
      GENERATE(std::string{"table_is_number"}, "array_of_strings", "null_array", "null_rows", "huge", "odd_address");
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const auto answer = answer_of(fake_server(folder.copy_of("usual"), habit));
  INFO(habit);
  REQUIRE(answer);
  CHECK(answer->worlds.empty());
  REQUIRE(answer->problems.size() == 1);
  CHECK(answer->problems[0].code == error_code::bad_format);
}

TEST_CASE("lists of namespaces without a bound, or of another type, are no lists") {
  const auto habit = GENERATE(std::string{"endless_list"}, "many_names", "list_is_number");
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const auto answer = answer_of(fake_server(folder.copy_of("usual"), habit));
  INFO(habit);
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == error_code::bad_format);
}

TEST_CASE("a server without jobs has no worlds") {
  const auto habit = GENERATE(std::string{"none"}, "null_list", "no_results", "null_results");
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const auto answer = answer_of(fake_server(folder.copy_of("usual"), habit));
  INFO(habit);
  REQUIRE(answer);
  CHECK(answer->worlds.empty());
}

TEST_CASE("rows that cannot be ranks are problems, and the other rows stand") {
  struct sample {
    std::string habit;
    std::size_t ranks, problems;
  };
  const auto one = GENERATE(sample{"same_rank", 1, 1}, sample{"no_rank", 1, 1}, sample{"other_namespace", 1, 1},
                            sample{"endless_namespace", 1, 1}, sample{"null_texts", 2, 0}, sample{"bad_pids", 2, 0},
                            sample{"long_texts", 2, 0}, sample{"many_results", 2, 0});
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const auto answer = answer_of(fake_server(folder.copy_of("usual"), one.habit));
  INFO(one.habit);
  REQUIRE(answer);
  REQUIRE(answer->worlds.size() == 1);
  CHECK(answer->worlds[0].ranks.size() == one.ranks);
  CHECK(answer->problems.size() == one.problems);
  for (const process_row& row : answer->worlds[0].ranks) {
    CHECK(row.host.value_or("").size() <= longest_text);
    CHECK(row.executable.value_or("").size() <= longest_text);
  }
}

TEST_CASE("the tables come with the events that were asked for, and ranks can be released") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  auto session = pmix_session::start(fake_server(folder.copy_of("usual"), "ends"), {}, {});
  REQUIRE(session);
  const auto tables = session->ask_and_follow({});
  REQUIRE(tables);
  CHECK(tables->worlds.size() == 1);
  const auto event = session->event();
  REQUIRE(event);
  REQUIRE(*event);
  CHECK((*event)->code == -145);
  CHECK((*event)->affected == process_name{"job@1", 1});
  const auto none = session->event();
  REQUIRE(none);
  CHECK_FALSE(*none);
  CHECK(session->release("job@1", {}));
}

TEST_CASE("the server starts daemons, or its refusal is the error and the conversation goes on") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  auto session = pmix_session::start(fake_server(folder.copy_of("usual"), "usual"), {}, {});
  REQUIRE(session);
  const auto started = session->launch("job@1", {"/daemon", "word"}, {});
  REQUIRE(started);
  CHECK(*started == "job@9");
  const auto other = session->launch("job@2", {"/daemon", "word"}, {});
  REQUIRE_FALSE(other);
  CHECK_THAT(other.error().message, ContainsSubstring("cannot start daemons"));
  CHECK_FALSE(session->launch("job@1", {}, {}));
  CHECK(session->ask({}));
  auto full = pmix_session::start(fake_server(folder.copy_of("usual"), "full"), {}, {});
  REQUIRE(full);
  CHECK_FALSE(full->launch("job@1", {"/daemon", "word"}, {}));
}

TEST_CASE("the caller's cancellation ends a conversation with a silent server") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const base::unique_fd stop{ends[0]};
  ::close(ends[1]);  // readable: the end of the file
  session_limits limits;
  limits.answer_time = patience;
  const auto session =
      pmix_session::start(fake_server(folder.copy_of("usual"), "silent"), limits, {no_deadline, ends[0]});
  REQUIRE_FALSE(session);
  CHECK(session.error().code == error_code::timed_out);
  CHECK(session.error().message.find("cancelled") != std::string::npos);
}

TEST_CASE("a PMIx library that another user could have written, or that lacks a function, is not used") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const std::string library = folder.copy_of("usual");
  REQUIRE(::chmod(library.c_str(), 0777) == 0);
  const auto open_to_all = answer_of(fake_server(library, "honest"));
  REQUIRE_FALSE(open_to_all);
  CHECK(open_to_all.error().code == error_code::permission);
  CHECK(open_to_all.error().message.find("the PMIx library") != std::string::npos);
  const auto incomplete = answer_of(fake_server(folder.copy_of("without_query"), "honest"));
  REQUIRE_FALSE(incomplete);
  CHECK(incomplete.error().code == error_code::bad_format);
  CHECK(incomplete.error().message.find("PMIx_Query_info_nb") != std::string::npos);
}

TEST_CASE("the reason of a helper that has ended before it was asked to connect is kept") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  auto session = pmix_session::begin_start(fake_server(folder.copy_of("without_query"), "honest"), {});
  REQUIRE(session);
  pollfd helper{session->descriptor(), POLLRDHUP, 0};
  REQUIRE(::poll(&helper, 1, static_cast<int>(std::chrono::milliseconds(patience).count())) == 1);
  const bool asks = GENERATE(false, true);
  if (asks) {
    session->connect_and_ask(true);
  } else {
    session->connect();
  }
  const auto started = session->finish_start({});
  REQUIRE_FALSE(started);
  CHECK(started.error().code == error_code::bad_format);
  CHECK(started.error().message.find("PMIx_Query_info_nb") != std::string::npos);
}

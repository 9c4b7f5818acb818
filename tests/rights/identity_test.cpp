// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Whose a process is, and what is said of one that cannot be looked at.
#include <filesystem>

#include <sys/resource.h>

#include "catch.hpp"
#include "mpiacq/process/process_user.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "node/node_answers.hpp"
#include "proc/process_state.hpp"
#include "rank_identity.hpp"
#include "victim.hpp"
#include "wire/agent_messages.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

process_users all_of(std::int64_t user) {
  return {user_id{user}, user_id{user}, user_id{user}, user_id{user}};
}

rank_process rank_of(const victim& process, std::int64_t starters) {
  rank_process rank{entry_index{0}, process_id{process.pid()}, MPIACQ_STARTERS "/checked_rank_gate_unused"};
  rank.user = user_id{starters};
  return rank;
}

/// No descriptor can be opened while it lives.
class no_descriptors {
 public:
  no_descriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{3, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  ~no_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  no_descriptors(const no_descriptors&) = delete;
  no_descriptors& operator=(const no_descriptors&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("a process's users are those of its status file") {
  using namespace std::string_literals;
  const auto of = [](const std::string& line) { return parse_process_users("Name:\tx\nState:\tS\n" + line); };
  CHECK(of("Uid:\t1\t2\t3\t4\nGid:\t5\t5\t5\t5\n") == process_users{user_id{1}, user_id{2}, user_id{3}, user_id{4}});
  CHECK(of("Uid:\t0\t0\t0\t4294967295\n").value().file_system == user_id{4294967295});
  for (const auto& wrong : {""s, "Uid:\n"s, "Uid:\t1\t1\t1\n"s, "Uid:\t1\t1\t1\tx\n"s, "Uid:\t-1\t1\t1\t1\n"s,
                            "Uid:\t1\t1\t1\t4294967296\n"s, "xUid:\t1\t1\t1\t1\n"s}) {
    INFO(wrong);
    CHECK_FALSE(of(wrong));
  }
  // A program's name cannot forge the line: the kernel escapes its newlines.
  CHECK_FALSE(parse_process_users("Uid:\t1\t1\t1\t1\n"));
  CHECK(users_of(process_id{::getpid()}).value().real == user_id{::getuid()});
  CHECK(users_of(process_id{1 << 22}).error().code == error_code::process_gone);
}

TEST_CASE("a process is a rank only if each of its users is the starter's") {
  const process_id pid{42};
  CHECK_FALSE(why_no_rank(pid, all_of(1000), user_id{1000}));
  CHECK_FALSE(why_no_rank(pid, all_of(0), user_id{0}));
  CHECK(why_no_rank(pid, all_of(0), user_id{1000}).value().message ==
        "process 42 belongs to user 0, not to the starter's user (1000)");
  for (user_id process_users::*one :
       {&process_users::real, &process_users::effective, &process_users::saved, &process_users::file_system}) {
    process_users users = all_of(1000);
    users.*one = user_id{0};
    CHECK(users.only() == no_user);
    CHECK_THAT(why_no_rank(pid, users, user_id{1000}).value().message, ContainsSubstring("set-user-ID"));
    CHECK(why_no_rank(pid, users, user_id{0}));
    CHECK(why_no_rank(pid, users, no_user));
  }
  CHECK_THAT(why_no_rank(pid, all_of(0), no_user).value().message, ContainsSubstring("no user of its own"));
}

TEST_CASE("ranks of another user are refused before anything is done to them") {
  MPIACQ_NEEDS_ANOTHER_USER();
  const victim process;
  const std::string before = process.sleeps();
  auto ranks = rank_group::of_ranks({rank_of(process, hostile_user)}).value();
  const auto held = ranks.hold();
  CHECK(held[0].state == hold_state::not_permitted);
  CHECK_THAT(held[0].why->message, ContainsSubstring("belongs to user 0, not to the starter's user (12345)"));
  CHECK(ranks.stacks().taken.empty());
  CHECK_FALSE(ranks.queues().ranks[0].report);
  CHECK(process.sleeps() == before);
  auto own = rank_group::of_ranks({rank_of(process, 0)}).value();
  CHECK(own.hold()[0].state == hold_state::held);
}

TEST_CASE("an agent is told the starter's user, and refuses other users' processes") {
  MPIACQ_NEEDS_ANOTHER_USER();
  const victim process;
  const std::string before = process.sleeps();
  agents::assignment told{1, {}, {rank_of(process, hostile_user)}};
  const auto heard = agents::decode(agents::encode(told)).value();
  const auto answer = agents::node_answers(std::get<agents::assignment>(heard).ranks, {}).answer;
  const auto part = std::get<agents::hold_part>(answer(agents::ask_hold{}, {}));
  CHECK(part.held.empty());
  REQUIRE(part.others.size() == 1);
  CHECK_THAT(part.others[0].why->message, ContainsSubstring("belongs to user 0, not to the starter's user (12345)"));
  CHECK(process.sleeps() == before);

  // The same of the tables of an MPI2DD job.
  agents::ask_visits visits{{{1, {{"", process_id{process.pid()}, "", {}}}}}, {}, 1, user_id{hostile_user}};
  const auto asked = std::get<agents::ask>(agents::decode(agents::encode(agents::ask{1, 1000, visits})).value());
  const auto said = std::get<agents::visits_part>(answer(asked.what, {}));
  REQUIRE(said.of.size() == 1);
  REQUIRE(said.of[0].said.size() == 1);
  REQUIRE(said.of[0].said[0].failure);
  CHECK_THAT(said.of[0].said[0].failure->message, ContainsSubstring("belongs to user 0, not to the starter's user"));
}

TEST_CASE("a rank that has become a set-user-ID program since is not held any more") {
  MPIACQ_NEEDS_ANOTHER_USER();
  const scratch_folder folder;
  std::filesystem::permissions(folder.path("."), std::filesystem::perms::all);
  const std::string program = folder.path("echo");
  std::filesystem::copy(MPIACQ_PROGRAMS "/echo", program);
  ::chmod(program.c_str(), 04755);
  live_process process({"setpriv", "--reuid", std::to_string(hostile_user), "--regid", std::to_string(hostile_user),
                        "--clear-groups", "sh", "-c", "echo ready; read go; exec " + program});
  REQUIRE(process.next_line() == "ready");
  rank_process rank{entry_index{0}, process.pid(), {}};
  rank.user = user_id{hostile_user};
  auto ranks = rank_group::of_ranks({rank}).value();
  REQUIRE(ranks.hold()[0].state == hold_state::held);
  (void)ranks.release();
  process.tell('\n');
  REQUIRE(
      comes_true([&] { return status_of(static_cast<pid_t>(process.pid().value()), "Uid").starts_with("12345\t0"); }));
  const auto held = ranks.hold();
  CHECK(held[0].state == hold_state::not_permitted);
  CHECK_THAT(held[0].why->message, ContainsSubstring("set-user-ID"));
  CHECK(status_of(static_cast<pid_t>(process.pid().value()), "TracerPid") == "0");
}

TEST_CASE("memory is written only while it belongs to the user that was meant") {
  MPIACQ_NEEDS_ANOTHER_USER();
  const victim process;
  const auto gate = target_address{static_cast<std::uint64_t>(0)};
  process_memory foreign(process_id{process.pid()}, user_id{hostile_user});
  const std::byte one{1};
  const auto refused = foreign.write(gate, {&one, 1});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == error_code::permission);
  CHECK_THAT(refused.error().message, ContainsSubstring("belongs to user 0"));
  process_memory own(process_id{process.pid()}, user_id{0});
  CHECK(own.write(gate, {&one, 1}).error().code == error_code::unreadable_memory);  // nothing is mapped there
}

TEST_CASE("a rank that cannot be looked at for lack of descriptors is not said to have ended") {
  const victim process;
  const auto rank = rank_of(process, static_cast<std::int64_t>(::geteuid()));
  rank_identity seen;
  run_state state{};
  std::array<std::byte, 4> bytes{};
  result<void> read, written;
  std::optional<error> user;
  // UBSan opens a pipe when it sees an object of a class with virtual functions for the first time.
  CHECK(why_no_rank(process_id{999'999'999}, *rank.user));
  CHECK_FALSE(process_memory(process_id{999'999'999}).write(target_address{4096}, bytes));
  {
    const no_descriptors none;
    seen = identify(rank, true);
    state = state_of(rank.pid);
    process_memory memory(rank.pid, rank.user);
    written = memory.write(target_address{4096}, bytes);
    user = why_no_rank(rank.pid, *rank.user);
  }
  CHECK(seen.state == hold_state::failed);
  REQUIRE(seen.why);
  CHECK(seen.why->system_errno == EMFILE);
  CHECK(state == run_state::unknown);
  REQUIRE_FALSE(written);
  CHECK(written.error().code == error_code::system);
  CHECK(written.error().system_errno == EMFILE);
  REQUIRE(user);
  CHECK(user->code == error_code::limit);
  CHECK(user->system_errno == EMFILE);
  CHECK(identify(rank, true).state == hold_state::held);
}

TEST_CASE(
    "a rank that MPI_Comm_spawn made has another number in its environment, and is not taken for another process") {
  using namespace std::string_literals;
  const rank_process rank{entry_index{5}, process_id{1}, "/opt/app/solver"};
  const auto doubt = [&](std::string exe, std::string environment) {
    return why_not_rank(rank, {std::move(exe), std::move(environment), {}});
  };
  CHECK(doubt("/opt/app/solver", "OMPI_COMM_WORLD_RANK=0\0"s));
  CHECK_FALSE(doubt("/opt/app/solver", "OMPI_COMM_WORLD_RANK=0\0OMPI_PARENT_PORT=3948.0:12\0"s));
  CHECK_FALSE(doubt("/opt/app/solver", "PMI_RANK=0\0PMI_SPAWNED=1\0"s));
  CHECK(doubt("/opt/app/solver", "PMI_RANK=0\0PMI_SPAWNED=0\0"s));
  // What it runs still tells.
  CHECK(doubt("/usr/sbin/sshd", "OMPI_COMM_WORLD_RANK=0\0OMPI_PARENT_PORT=3948.0:12\0"s));
}

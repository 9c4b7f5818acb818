// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/started_elsewhere.hpp"

#include "fake_parts.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace std::chrono_literals;

TEST_CASE("ranks elsewhere: a launcher that has started no ssh leads to no problem") {
  started_elsewhere elsewhere;
  CHECK_FALSE(elsewhere.is_certain(clock::now() + 1h));
  CHECK_FALSE(elsewhere.take_problem());
}

TEST_CASE(
    "ranks elsewhere: ranks of this node are waited for since the first ssh command, and each host is told once") {
  started_elsewhere elsewhere;
  const auto begin = clock::now();
  elsewhere.add(process_id{7}, "n3", begin);
  elsewhere.add(process_id{7}, "n10", begin + 1s);
  elsewhere.add(process_id{7}, "n2", begin + 5s);
  elsewhere.add(process_id{7}, "n3", begin + 6s);
  CHECK_FALSE(elsewhere.is_certain(begin + started_elsewhere::longest_wait - 1ms));
  REQUIRE(elsewhere.is_certain(begin + started_elsewhere::longest_wait));
  const auto told = elsewhere.take_problem();
  REQUIRE(told);
  CHECK_THAT(told->message, ContainsSubstring("the launcher 7 has started ssh to n2, n3, n10; attach to the job"));
  elsewhere.add(process_id{7}, "n4", begin + 20s);
  CHECK_FALSE(elsewhere.is_certain(begin + 1h));
  CHECK_FALSE(elsewhere.take_problem());
}

TEST_CASE("ranks elsewhere: the sentence names a bounded number of hosts") {
  started_elsewhere elsewhere;
  for (int i = 0; i < 1000; ++i) elsewhere.add(process_id{7}, "n" + std::to_string(i), clock::now());
  const auto told = elsewhere.take_problem();
  REQUIRE(told);
  CHECK_THAT(told->message, ContainsSubstring(", n15 and 984 more;"));
  CHECK_THAT(told->message, !ContainsSubstring("n16,"));
}

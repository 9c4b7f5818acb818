// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Work items run one after the other, on a thread of their own, and one that throws takes no other with it.
#include "code_names/background_work.hpp"

#include <csignal>
#include <future>
#include <new>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "patience.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

TEST_CASE("background work: an item that finds no memory is given up, and the next ones run") {
  std::vector<int> done;  // of the work's thread, until `all` is ready
  std::promise<void> all;
  background_work work;
  work.add([&] { done.push_back(1); });
  work.add([] { throw std::bad_alloc(); });
  work.add([&] { done.push_back(3); });
  work.add([&] { all.set_value(); });
  REQUIRE(all.get_future().wait_for(patience) == std::future_status::ready);
  CHECK(done == std::vector{1, 3});
}

TEST_CASE("background work: its thread is not the caller's, and takes no signal") {
  struct seen {
    std::thread::id thread;
    sigset_t blocked;
  };
  std::promise<seen> told;
  background_work work;
  work.add([&] {
    seen now{std::this_thread::get_id(), {}};
    ::pthread_sigmask(SIG_BLOCK, nullptr, &now.blocked);
    told.set_value(now);
  });
  auto answer = told.get_future();
  REQUIRE(answer.wait_for(patience) == std::future_status::ready);
  const seen now = answer.get();
  CHECK(now.thread != std::this_thread::get_id());
  for (const int signal : {SIGINT, SIGTERM, SIGCHLD, SIGUSR1}) CHECK(::sigismember(&now.blocked, signal) == 1);
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The thread of an agent that examines its ranks: what it does between two questions.
#include "node/rank_worker.hpp"

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include <poll.h>

#include "catch.hpp"
#include "patience.hpp"
#include "run_command.hpp"

using namespace mpiacq;
using namespace mpiacq::agents;

namespace {

/// An answerer that records its calls. `again` is what its `serve` returns.
class recorded_calls {
 public:
  [[nodiscard]] answerer_factory factory() {
    return [this](const std::vector<rank_process>&) {
      return answerer{[this](const question&, const answer_terms&) {
                        note("answer");
                        return answer_body{hold_part{}};
                      },
                      [this] {
                        note("serve");
                        return again.load();
                      }};
    };
  }
  [[nodiscard]] std::string text() {
    const std::lock_guard lock(mutex_);
    std::string all;
    for (const std::string& one : calls_) all += (all.empty() ? "" : " ") + one;
    return all;
  }
  [[nodiscard]] std::size_t count() {
    const std::lock_guard lock(mutex_);
    return calls_.size();
  }

  std::atomic<deadline> again = no_deadline;

 private:
  void note(const std::string& call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(call);
  }

  std::mutex mutex_;
  std::vector<std::string> calls_;
};

/// The number of the question that the worker answers next; 0 if it answers none.
std::uint64_t next_answered(rank_worker& worker) {
  pollfd news{worker.descriptor(), POLLIN, 0};
  const auto until = clock::now() + test::patience;
  while (clock::now() < until) {
    (void)::poll(&news, 1, 1000);
    if (const auto done = worker.take()) return done->number;
  }
  return 0;
}

}  // namespace

TEST_CASE("rank worker: it serves its ranks once before the first question, and once after each answer") {
  recorded_calls calls;
  auto worker = rank_worker::start({}, calls.factory()).value();
  REQUIRE(test::comes_true([&] { return calls.text() == "serve"; }));
  worker->put(1, ask_hold{});
  CHECK(next_answered(*worker) == 1);
  REQUIRE(test::comes_true([&] { return calls.text() == "serve answer serve"; }));
  worker->put(2, ask_hold{});
  CHECK(next_answered(*worker) == 2);
  REQUIRE(test::comes_true([&] { return calls.text() == "serve answer serve answer serve"; }));
  rank_worker::end(std::move(worker));
  CHECK(calls.text() == "serve answer serve answer serve");
}

TEST_CASE("rank worker: it serves its ranks again when they ask for it, and answers questions meanwhile") {
  recorded_calls calls;
  calls.again = clock::time_point{};
  const auto worker = rank_worker::start({}, calls.factory()).value();
  CHECK(test::comes_true([&] { return calls.count() >= 10; }));
  worker->put(1, ask_hold{});
  CHECK(next_answered(*worker) == 1);
  const std::size_t before = calls.count();
  CHECK(test::comes_true([&] { return calls.count() >= before + 10; }));
}

TEST_CASE("rank worker: an end does not wait for the time at which ranks are served again") {
  recorded_calls calls;
  calls.again = clock::now() + std::chrono::hours(1);
  auto worker = rank_worker::start({}, calls.factory()).value();
  REQUIRE(test::comes_true([&] { return calls.count() == 1; }));
  worker->put(1, ask_hold{});
  CHECK(next_answered(*worker) == 1);
  REQUIRE(test::comes_true([&] { return calls.count() == 3; }));
  worker.reset();
  CHECK(calls.text() == "serve answer serve");
}

TEST_CASE("rank worker: an answerer need not serve") {
  const auto make = [](const std::vector<rank_process>&) {
    return answerer{[](const question&, const answer_terms&) { return answer_body{hold_part{}}; }};
  };
  const auto worker = rank_worker::start({}, make).value();
  worker->put(1, ask_hold{});
  CHECK(next_answered(*worker) == 1);
}

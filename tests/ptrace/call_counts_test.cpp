// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// How often the kernel is asked while processes are taken hold of. Counts do not vary with the machine, as times do.
#include "catch.hpp"
#include "crowd.hpp"
#include "system_calls.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// Beside those for each thread: the last question of each wait, which has no answer, and one for each signal that
/// comes while stops come in.
constexpr std::uint64_t for_all = 100;

/// Calls of a tracer that is made for this alone, and does it once before.
template <class Work>
std::optional<std::uint64_t> calls_of(Work work) {
  const auto counter = bench::system_call_counter::of_tracing();
  const auto control = tracer::create();
  REQUIRE(control.has_value());
  work(**control);
  return counter.of([&] { work(**control); });
}

constexpr const char* no_count = "the kernel's tracepoints cannot be read here (it takes root and tracefs)";

}  // namespace

TEST_CASE("one more thread costs an attach and a detach four system calls") {
  for (const int threads : {1, 50, 200}) {
    INFO(threads << " threads");
    crowd one(1, threads);
    const auto calls = calls_of([&](tracer& control) {
      REQUIRE(control.attach(one.ids()[0]).has_value());
      REQUIRE(control.detach(one.ids()[0]).has_value());
    });
    if (!calls) MPIACQ_SKIP(no_count);
    // SEIZE, INTERRUPT, wait, DETACH
    CHECK(*calls >= 4 * static_cast<std::uint64_t>(threads));
    CHECK(*calls <= 4 * static_cast<std::uint64_t>(threads) + for_all);
    CHECK(one.end_well() == 1);
  }
}

TEST_CASE("one more process costs attach_all and detach_all four system calls") {
  for (const int processes : {1, 50, 200}) {
    INFO(processes << " processes");
    crowd all(processes);
    const auto calls = calls_of([&](tracer& control) {
      for (const auto& held : control.attach_all(all.targets())) REQUIRE(held.has_value());
      for (const auto& left : control.detach_all(all.ids())) REQUIRE(left.has_value());
    });
    if (!calls) MPIACQ_SKIP(no_count);
    CHECK(*calls >= 4 * static_cast<std::uint64_t>(processes));
    CHECK(*calls <= 4 * static_cast<std::uint64_t>(processes) + for_all);
    CHECK(all.end_well() == processes);
  }
}

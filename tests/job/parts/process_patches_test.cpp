// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The patched process is the test itself: its memory can be written, and no tracer is needed.
#include "parts/process_patches.hpp"

#include "fake_parts.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

const process_id this_process{::getpid()};

struct patched_process {
  volatile unsigned char variable = 5;
  fake_traps traps;
  std::vector<int> seen;  ///< the variable at each call of the tracer
  process_patches patches;
  followed_process process;

  explicit patched_process(bool is_launched)
      : patches(traps, breakpoint_kind::software, is_launched),
        process(traps, this_process, {}, make_mpir_interface({})) {
    traps.at_each_call = [this] { seen.push_back(variable); };
  }
  [[nodiscard]] write_bytes write_of(unsigned char value) const {
    return {target_address{reinterpret_cast<std::uintptr_t>(&variable)}, {std::byte{value}}};
  }
  void write(const write_bytes& what, write_duration duration = write_duration::while_controlled) {
    REQUIRE(patches.write(process, what, duration).has_value());
  }
};

}  // namespace

TEST_CASE("patches: in a process that was attached to, the bytes of before are put back if this program dies") {
  patched_process self_written(false);
  self_written.write(self_written.write_of(1));
  CHECK(self_written.variable == 1);
  CHECK(self_written.traps.calls == std::vector<std::string>{"restore 5"});
  // It was promised before anything was written.
  CHECK(self_written.seen == std::vector<int>{5});
}

TEST_CASE("patches: bytes that the interface names are put back instead of those of before") {
  patched_process self_written(GENERATE(false, true));
  auto what = self_written.write_of(1);
  what.restored_on_exit = std::vector{std::byte{9}};
  self_written.write(what);
  CHECK(self_written.variable == 1);
  CHECK(self_written.traps.calls == std::vector<std::string>{"restore 9"});
  CHECK(self_written.seen == std::vector<int>{5});
}

TEST_CASE("patches: what is written for good stays, and the promise is taken back after the write") {
  patched_process self_written(GENERATE(false, true));
  self_written.write(self_written.write_of(0), write_duration::for_good);
  CHECK(self_written.variable == 0);
  CHECK(self_written.traps.calls == std::vector<std::string>{"restore"});
  CHECK(self_written.seen == std::vector<int>{0});
}

TEST_CASE("patches: MPIR_being_debugged of a launched starter goes back to 0 only once its table is reported") {
  patched_process self_written(true);
  auto what = self_written.write_of(1);
  what.until_the_table = true;
  self_written.write(what);
  CHECK(self_written.variable == 1);
  CHECK(self_written.traps.calls.empty());
  REQUIRE(self_written.patches.table_is_reported(self_written.process).has_value());
  CHECK(self_written.traps.calls == std::vector<std::string>{"restore 0"});
  // Once.
  REQUIRE(self_written.patches.table_is_reported(self_written.process).has_value());
  CHECK(self_written.traps.calls.size() == 1);
}

TEST_CASE("patches: nothing is written where the promise to put it back fails") {
  patched_process self_written(false);
  self_written.traps.answer = fail(error_code::not_found, "not traced");
  CHECK(self_written.patches.write(self_written.process, self_written.write_of(1), write_duration::while_controlled)
            .error()
            .code == error_code::not_found);
  CHECK(self_written.variable == 5);
}

TEST_CASE("patches: a processor without watchpoints is no failure, another error is one") {
  patched_process process(true);
  const mpir::watch_variable watch{target_address{0x1000}, 4};
  process.traps.answer = fail(error_code::unsupported, "no register is free");
  CHECK(process.patches.apply(process.process, watch).has_value());
  CHECK_FALSE(process.patches.apply(process.process, mpir::plant_breakpoint{target_address{0x1000}}).has_value());
  process.traps.answer = fail(error_code::process_gone, "it has ended");
  CHECK_FALSE(process.patches.apply(process.process, watch).has_value());
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The program ways_to_end, which tells how it ends before it does.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "bystander.hpp"

namespace mpiacq::test {

inline constexpr attach_options with_end{.follow_children = false, .report_end = true};

/// The thread that the program names as the one that ends it.
inline thread_id told_thread(bystander& program) {
  const std::string line = program.pipes().line();
  REQUIRE(line.starts_with("by "));
  return thread_id{std::atoll(line.c_str() + 3)};
}

inline void attach_and_run(tracer& t, bystander& program) {
  ok(t.attach(program.id(), with_end));
  ok(t.resume(program.id()));
}

/// The program has set it to this just before its end.
inline void check_memory(process_id process) {
  int known = 0;
  process_memory memory{process};
  ok(read_exact(memory, address_of("ways_to_end", "known"), std::as_writable_bytes(std::span{&known, 1})));
  CHECK(known == 4711);
}

inline std::vector<thread_registers> registers_of(tracer& t, process_id process) {
  auto all = t.registers(std::vector{process});
  REQUIRE(all.size() == 1);
  ok(all.front());
  return std::move(*all.front());
}

inline bool has_thread(const std::vector<thread_registers>& all, thread_id thread) {
  return std::any_of(all.begin(), all.end(), [&](const thread_registers& one) { return one.thread == thread; });
}

/// Nothing is left to be told.
inline void check_silence(tracer& t) {
  const auto more = t.wait(clock::now());
  ok(more);
  CHECK_FALSE(more->has_value());
}

inline exit_status exited(int code) {
  return {.signaled = false, .value = code, .core_dumped = false};
}
inline exit_status signaled(int signal) {
  return {.signaled = true, .value = signal, .core_dumped = false};
}

}  // namespace mpiacq::test

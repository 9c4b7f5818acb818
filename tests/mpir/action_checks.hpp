// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "catch.hpp"
#include "fake_target.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"

namespace mpiacq::test {

inline std::vector<mpir::action> expect(result<std::vector<mpir::action>> got) {
  if (!got) FAIL(got.error().message);
  return std::move(*got);
}

template <class T>
const T& only(const std::vector<mpir::action>& actions) {
  REQUIRE(actions.size() == 1);
  REQUIRE(std::holds_alternative<T>(actions[0]));
  return std::get<T>(actions[0]);
}

/// The actions in order, each as a short text: "write MPIR_being_debugged", "plant", "report 2" ...
inline std::vector<std::string> steps(const std::vector<mpir::action>& actions) {
  std::vector<std::string> words;
  for (const mpir::action& a : actions) {
    if (const auto* write = std::get_if<mpir::write_memory>(&a)) {
      words.push_back("write " + std::string(mpir::about(write->what).name));
    } else if (const auto* report = std::get_if<mpir::report_processes>(&a)) {
      words.push_back("report " + std::to_string(report->table->size()));
    } else if (const auto* kick = std::get_if<mpir::kick_fifo>(&a)) {
      words.push_back("kick " + kick->path);
    } else if (const auto* wait = std::get_if<mpir::await_table>(&a)) {
      words.push_back("await " + std::to_string(wait->filled) + " of " + std::to_string(wait->claimed) +
                      (wait->looks_like_rank ? ", a rank" : ""));
    } else if (const auto* abort = std::get_if<mpir::report_abort>(&a)) {
      words.push_back("abort " + abort->reason.value_or("-"));
    } else {
      constexpr const char* rest[] = {"plant",   "lift", "", "watch", "unwatch", "",
                                      "modules", "",     "", "",      "daemons", "problem"};
      words.emplace_back(rest[a.index()]);
    }
  }
  return words;
}
using words = std::vector<std::string>;

/// Does the writes among the actions, as a tool would.
inline void carry_out(fake_starter& starter, const std::vector<mpir::action>& actions) {
  for (const mpir::action& a : actions) {
    const auto* write = std::get_if<mpir::write_memory>(&a);
    if (write != nullptr) REQUIRE(starter.memory.write(write->address, write->bytes).has_value());
  }
}

/// The given number of bytes of a target's memory, as text.
inline std::string text_at(fake_starter& starter, target_address where, std::size_t size) {
  std::vector<std::byte> bytes(size);
  REQUIRE(read_exact(starter.memory, where, bytes).has_value());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace mpiacq::test

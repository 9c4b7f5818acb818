// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Many processes that run already, and what /proc says of one of them.
#pragma once

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "bystander.hpp"
#include "patience.hpp"

namespace mpiacq::test {

class crowd {
 public:
  explicit crowd(int count, int threads = 1) : program_("crowd", {std::to_string(count), std::to_string(threads)}) {
    for (int i = 0; i < count; ++i) ids_.emplace_back(std::stoll(program_.pipes().line()));
  }
  [[nodiscard]] const std::vector<process_id>& ids() const { return ids_; }
  [[nodiscard]] std::vector<attach_target> targets() const {
    std::vector<attach_target> all;
    for (const process_id id : ids_) all.push_back({id, {}});
    return all;
  }
  /// Lets them end, and gives how many ended as they would have.
  int end_well() {
    program_.pipes().no_more_orders();
    CHECK(program_.end().value == 24);
    const std::string last = program_.pipes().rest();
    REQUIRE(last.starts_with("ended well "));
    return std::stoi(last.substr(11));
  }

 private:
  bystander program_;
  std::vector<process_id> ids_;
};

/// Field 22 of /proc/PID/stat of a program whose name has no blank.
inline std::uint64_t start_time_of(process_id id) {
  std::ifstream stat("/proc/" + std::to_string(id.value()) + "/stat");
  const std::vector<std::string> fields{std::istream_iterator<std::string>(stat), {}};
  REQUIRE(fields.size() > 21);
  return std::stoull(fields[21]);
}

inline pid_t number_of(process_id id) {
  return static_cast<pid_t>(id.value());
}

/// How often a process that sleeps has gone to sleep: whoever is stopped does so once more.
inline std::string sleeps_of(process_id id) {
  REQUIRE(comes_to(number_of(id), 'S'));
  return status_line(id, "voluntary_ctxt_switches") + "+" + status_line(id, "nonvoluntary_ctxt_switches");
}

/// Asks that the next process gets this number. False where that cannot be asked for.
inline bool wish_for_number(pid_t number) {
  std::ofstream last("/proc/sys/kernel/ns_last_pid");
  last << number - 1 << std::flush;
  return last.good();
}

inline bool all_of_them_held(const std::vector<process_id>& ids) {
  return std::all_of(ids.begin(), ids.end(), [](process_id id) { return all_held(number_of(id)); });
}

inline bool none_of_them_held(const std::vector<process_id>& ids) {
  return std::all_of(ids.begin(), ids.end(), [](process_id id) { return none_held(number_of(id)); });
}

/// Waits until the tracing process has let go of them all.
inline bool come_to_be_free(const std::vector<process_id>& ids) {
  const auto give_up = clock::now() + patience;
  while (!none_of_them_held(ids)) {
    if (clock::now() > give_up) return false;
  }
  return true;
}

inline void all_ok(const std::vector<result<void>>& outcomes) {
  for (const auto& outcome : outcomes) ok(outcome);
}

}  // namespace mpiacq::test

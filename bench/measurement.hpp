// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a benchmark has measured of one work at one size, as a line of JSON for scripts/bench. Times are kept one by
// one and in the order of the rounds: ratios are made of works that were done in turn.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace mpiacq::bench {

using steady = std::chrono::steady_clock;

[[nodiscard]] inline double milliseconds_since(steady::time_point begin) {
  return std::chrono::duration<double, std::milli>(steady::now() - begin).count();
}

template <class Work>
[[nodiscard]] double milliseconds_of(Work work) {
  const auto begin = steady::now();
  work();
  return milliseconds_since(begin);
}

[[nodiscard]] inline double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class measurement {
 public:
  /// `work` is a name that scripts/bench knows; `size` counts what `unit` says.
  measurement(std::string work, std::uint64_t size, std::string unit) {
    line_["work"] = std::move(work);
    line_["size"] = size;
    line_["unit"] = std::move(unit);
  }

  /// Milliseconds of each round.
  measurement& ours(const std::vector<double>& times) { return put("ours", times); }
  measurement& floor(const std::string& what, const std::vector<double>& times) {
    line_["floor_is"] = what;
    return put("floor", times);
  }
  /// `part`: the rival was given only so much of the work, since it takes so long; its times are those of the part.
  measurement& rival(const std::string& what, const std::vector<double>& times, double part = 1) {
    line_["rival_is"] = what;
    line_["rival_part"] = part;
    return put("rival", times);
  }
  /// By how much resident memory has grown at most, and what the data themselves have.
  measurement& memory(std::uint64_t peak, std::uint64_t data) {
    line_["peak_bytes"] = peak;
    line_["data_bytes"] = data;
    return *this;
  }
  /// System calls of one round (system_calls.hpp); nothing where they could not be counted.
  measurement& calls(std::optional<std::uint64_t> own, std::optional<std::uint64_t> of_floor) {
    if (own) line_["calls"] = *own;
    if (of_floor) line_["floor_calls"] = *of_floor;
    return *this;
  }
  /// How many files one round of ours opened.
  measurement& opens(std::optional<std::uint64_t> own) {
    if (own) line_["opens"] = *own;
    return *this;
  }
  /// Any further figure, with its unit in the name.
  measurement& figure(const std::string& name, double value) {
    line_["figures"][name] = value;
    return *this;
  }

  void print() const {
    std::puts(line_.dump().c_str());
    std::fflush(stdout);
  }

 private:
  measurement& put(const char* whose, const std::vector<double>& times) {
    line_[whose] = times;
    return *this;
  }
  nlohmann::ordered_json line_;
};

}  // namespace mpiacq::bench

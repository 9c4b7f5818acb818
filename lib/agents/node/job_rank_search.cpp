// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "node/job_rank_search.hpp"

#include <algorithm>

#include "environment_world.hpp"

namespace mpiacq::agents {

namespace {

constexpr std::string_view digits_of_16 = "0123456789abcdef";
/// Bounds the answer of one agent: others are merged with it on the way up.
constexpr std::size_t most_bytes_of_ranks = most_bytes / 4;
constexpr std::size_t most_bytes_around = 64;  // names of members and numbers of one rank
constexpr std::size_t most_keys = 1024;

}  // namespace

std::string to_digits(std::string_view bytes) {
  std::string text;
  for (const char one : bytes) {
    const auto byte = static_cast<unsigned char>(one);
    text += digits_of_16[byte >> 4U];
    text += digits_of_16[byte & 15U];
  }
  return text;
}

std::string from_digits(std::string_view digits) {
  if (digits.size() % 2 != 0) return {};
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const std::size_t high = digits_of_16.find(digits[i]), low = digits_of_16.find(digits[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return {};
    bytes += static_cast<char>(static_cast<unsigned char>(16 * high + low));
  }
  return bytes;
}

job_ranks_part answer_to(const ask_job_ranks& what) {
  std::vector<std::string> keys;
  for (const std::string& one : what.keys) {
    if (keys.size() < most_keys) keys.push_back(from_digits(one));
  }
  agent_job_ranks here{what.agent, {}, 0};
  const auto worlds = worlds_with_keys(keys);
  std::size_t bytes = 0;
  for (std::size_t world = 0; world < worlds.size(); ++world) {
    for (const environment_rank& one : worlds[world].ranks) {
      bytes += one.executable.size() + most_bytes_around;
      if (bytes > most_bytes_of_ranks) {
        ++here.left_out;
        continue;
      }
      here.ranks.push_back(
          {static_cast<std::uint32_t>(world), static_cast<std::uint32_t>(one.rank), one.pid, one.executable});
    }
  }
  return {{std::move(here)}};
}

}  // namespace mpiacq::agents

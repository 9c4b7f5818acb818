// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "server/version_text.hpp"

#include <algorithm>
#include <cstdlib>

namespace mpiacq::pmix {

std::string version_in(std::string_view text) {
  constexpr std::string_view between = " ,;()\t\n", digits = "0123456789";
  constexpr std::size_t longest = 32;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(between));
    const std::size_t point = word.find_first_not_of(digits);
    if (point != 0 && point != std::string_view::npos && word[point] == '.')
      return std::string(word.substr(0, longest));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return {};
}

bool is_too_old_to_ask(const std::string& version) {
  const int number = std::atoi(version.c_str());
  return number > 0 && number < oldest_version_asked;
}

}  // namespace mpiacq::pmix

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mpiacq/ranks/agent.hpp"
#include "trust/curve_keys.hpp"

namespace mpiacq {

namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto part = text.substr(at, text.find(',', at) - at);
    at += part.size() + 1;
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

/// Sets an option. Returns what is wrong with it; empty: nothing.
std::string set_option(agent_order& order, std::string_view option, const std::string& value) {
  if (option == "--to") {
    order.endpoints = split(value);
    return order.endpoints.empty() ? "--to names no address" : "";
  }
  if (option == "--key") {
    order.front_end_key = value;
    return agents::from_hex(value) ? "" : fmt::format("--key {} is not a key of 64 hexadecimal digits", value);
  }
  if (option == "--proof") return order.proof = value, "";
  if (option == "--node") return order.node = value, "";
  if (option != "--at-most") return fmt::format("{} is not an option of an agent", option);
  std::int64_t seconds = 0;
  const auto [end, wrong] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  constexpr std::int64_t most = 10'000'000;
  if (wrong != std::errc() || end != value.data() + value.size() || seconds < 0 || seconds > most)
    return fmt::format("--at-most {} is not a number of seconds", value);
  order.at_most = std::chrono::seconds(seconds);
  return "";
}

}  // namespace

result<agent_order> parse_agent_order(const std::vector<std::string>& arguments) {
  agent_order order;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size()) return fail(error_code::invalid_argument, arguments[i] + " lacks its value");
    if (auto wrong = set_option(order, arguments[i], arguments[i + 1]); !wrong.empty())
      return fail(error_code::invalid_argument, std::move(wrong));
  }
  if (order.endpoints.empty() || order.front_end_key.empty() || order.proof.empty())
    return fail(error_code::invalid_argument, "an agent needs --to, --key and --proof: mpiacq starts it with them");
  return order;
}

std::vector<std::string> arguments_of(const agent_order& order) {
  std::vector<std::string> all = {
      "--to", fmt::format("{}", fmt::join(order.endpoints, ",")), "--key", order.front_end_key, "--proof", order.proof};
  if (!order.node.empty()) all.insert(all.end(), {"--node", order.node});
  if (order.at_most.count() > 0) all.insert(all.end(), {"--at-most", std::to_string(order.at_most.count())});
  return all;
}

}  // namespace mpiacq

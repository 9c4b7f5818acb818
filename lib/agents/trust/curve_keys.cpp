// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "trust/curve_keys.hpp"

#include <array>

#include <fmt/format.h>
#include <zmq.h>

#include "errors/try.hpp"

namespace mpiacq::agents {

namespace {

/// libzmq's text form of a key, with the final zero byte.
using z85_text = std::array<char, 41>;

error no_curve() {
  return error{error_code::unsupported, "this libzmq cannot encrypt (it was built without CURVE)"}.with_errno(
      zmq_errno());
}

result<curve_key> from_z85(const z85_text& text) {
  curve_key key;
  if (zmq_z85_decode(reinterpret_cast<std::uint8_t*>(key.data()), text.data()) == nullptr) return fail(no_curve());
  return key;
}

}  // namespace

result<key_pair> make_keys() {
  z85_text open{}, secret{};
  if (zmq_curve_keypair(open.data(), secret.data()) != 0) return fail(no_curve());
  return key_pair{TRY(from_z85(open)), TRY(from_z85(secret))};
}

result<curve_key> open_half(const curve_key& secret) {
  z85_text text{}, open{};
  if (zmq_z85_encode(text.data(), reinterpret_cast<const std::uint8_t*>(secret.data()), secret.size()) == nullptr ||
      zmq_curve_public(open.data(), text.data()) != 0)
    return fail(no_curve());
  return from_z85(open);
}

std::string hex(const curve_key& key) {
  std::string digits;
  for (const std::byte b : key) digits += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return digits;
}

std::optional<curve_key> from_hex(std::string_view digits) {
  curve_key key{};
  if (digits.size() != 2 * key.size()) return std::nullopt;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const auto value = std::string_view("0123456789abcdef").find(digits[i]);
    if (value == std::string_view::npos) return std::nullopt;
    key[i / 2] = key[i / 2] << 4 | static_cast<std::byte>(value);
  }
  return key;
}

}  // namespace mpiacq::agents

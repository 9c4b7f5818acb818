// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wire/agent_messages.hpp"

namespace mpiacq::agents {

struct key_pair {
  curve_key open{};  ///< the public half
  curve_key secret{};
};

/// A new key pair. unsupported: this libzmq was built without CURVE.
[[nodiscard]] result<key_pair> make_keys();
/// The public half that belongs to a secret one.
[[nodiscard]] result<curve_key> open_half(const curve_key& secret);

/// 64 hexadecimal digits in lower case.
[[nodiscard]] std::string hex(const curve_key& key);
/// Empty if the text is not exactly that.
[[nodiscard]] std::optional<curve_key> from_hex(std::string_view digits);

}  // namespace mpiacq::agents

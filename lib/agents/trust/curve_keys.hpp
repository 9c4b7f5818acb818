// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wire/agent_messages.hpp"

namespace mpiacq::agents {

struct key_pair {
  curve_key open{};
  curve_key secret{};
};

/// A fresh one. unsupported: this libzmq knows no CURVE.
[[nodiscard]] result<key_pair> make_keys();
/// The open half of a secret one.
[[nodiscard]] result<curve_key> open_half(const curve_key& secret);

/// 64 digits in lower case.
[[nodiscard]] std::string hex(const curve_key& key);
/// Empty where it is not just that.
[[nodiscard]] std::optional<curve_key> from_hex(std::string_view digits);

}  // namespace mpiacq::agents

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Which characters may reach a terminal. All text that the project's programs write passes through these functions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace mpiacq::base {

/// Whether a terminal shows this character and does nothing else: no control (C0, DEL, C1), nothing that changes the
/// direction of text, no line or paragraph separator, nothing invisible.
[[nodiscard]] bool is_safe(char32_t code);

/// The number of bytes at the beginning of `text` that are safe printable ASCII, the part that needs no closer look.
[[nodiscard]] std::size_t plain_prefix(std::string_view text);

/// Foreign text (a name, a path, a sentence that contains one) in a form that is safe on a terminal. A control
/// character and a byte that is no UTF-8 become \xHH; any other unsafe character becomes \u{H...}. A line feed is a
/// control character here: foreign text stays on its line.
[[nodiscard]] std::string printable(std::string_view foreign);

/// Adds text that this program has put together, by the same rule, except that line feeds and the sequences in
/// `allowed` (a terminal's sequences for colours) stay as they are.
void append_guarded(std::string& out, std::string_view text, std::span<const std::string_view> allowed = {});

}  // namespace mpiacq::base

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// MUNGE, if the site has it: its credentials prove the user of a message, and that it was sent recently.
#pragma once

#include <cstdint>
#include <string>

#include "mpiacq/base/error.hpp"

namespace mpiacq::agents {

/// A decoded credential.
struct munge_word {
  std::string payload;
  std::uint32_t user = 0;  ///< the user that created it
};

/// A credential with this payload that only this program's user can decode. `socket`: of a munged other than the
/// system's; empty: the system's. Errors: not_found (no libmunge), system (no munged answers), each with MUNGE's own
/// message.
[[nodiscard]] result<std::string> munge_encode(const std::string& socket, const std::string& payload);
/// permission: MUNGE refuses it (made elsewhere, too old, or decoded before).
[[nodiscard]] result<munge_word> munge_decode(const std::string& socket, const std::string& credential);

}  // namespace mpiacq::agents

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "mpiacq/check/check_observations.hpp"

namespace mpiacq::check {

/// A name out of MPIR_attach_fifo, looked up as the starter sees it. Nothing is opened: a writer that comes and goes
/// would be an event for the reader of the FIFO.
[[nodiscard]] fifo_seen look_at_fifo(process_id starter, std::string path);
/// Whether a descriptor of the starter is that FIFO, or one of its threads waits in opening one. Empty where that
/// cannot be seen.
[[nodiscard]] std::optional<bool> is_waited_on(process_id starter, const std::string& path);
/// Whether there is still a FIFO of that name.
[[nodiscard]] bool is_still_there(const std::string& path);

}  // namespace mpiacq::check

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "mpiacq/ids.hpp"

namespace mpiacq {

/// The message-queue library that a rank of this node asks for (MPIR_dll_name, an array or, in one launcher, a
/// pointer). Empty where the rank has none, has not come so far, or may not be read. The rank is not stopped.
[[nodiscard]] std::optional<std::string> queue_library_of(process_id pid);

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpiacq/job.hpp"

namespace mpiacq::tool {

/// For people.
[[nodiscard]] std::string inspect_text(const inspection& found);
/// A `mpiacq.inspect/1` document, with a line feed.
[[nodiscard]] std::string inspect_json(const inspection& found);

}  // namespace mpiacq::tool

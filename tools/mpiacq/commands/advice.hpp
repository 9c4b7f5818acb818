// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace mpiacq::tool {

/// A sentence of the library in printable form, followed by the options that do what it recommends.
[[nodiscard]] std::string advised(std::string_view sentence);

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace mpiacq::tool {

/// The files page.css and page.js of this folder, which CMake puts into the program.
extern const std::string_view page_style, page_script;

}  // namespace mpiacq::tool

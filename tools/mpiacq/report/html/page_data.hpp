// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/findings.hpp"
#include "report/json/json_writer.hpp"

namespace mpiacq::tool {

/// The data that page.js draws, as JSON in columns: each string once, and a number for each use of it. Only the page of
/// the same release reads it. page.js describes the members.
void write_page_data(json_writer& out, const findings& found);

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "report/findings.hpp"

namespace mpiacq::tool {

/// The forms of a report that explains a job.
enum class report_form : unsigned char { text, document, page };

/// The form that the name of a file asks for: "x.json", "x.html", "x.htm"; anything else is text.
[[nodiscard]] report_form form_of_file(std::string_view file);

/// Writes the whole report. `colour`: only text has it.
void write_in_form(report_stream& out, const findings& found, report_form form, bool colour);

}  // namespace mpiacq::tool

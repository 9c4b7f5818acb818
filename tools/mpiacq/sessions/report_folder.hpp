// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "mpiacq/base/error.hpp"
#include "report/findings.hpp"

namespace mpiacq::tool {

/// Makes the folder if it does not exist, and checks that it can be written to. Errors: system, with the path.
[[nodiscard]] result<void> prepare_report_folder(const std::string& folder);

/// Writes report.txt, report.json and report.html into the folder, each as a whole or not at all. Errors: system. A
/// failure while the contents are written is printed later (whole_file).
[[nodiscard]] result<void> write_report_folder(const std::string& folder, const std::shared_ptr<const findings>& found);

}  // namespace mpiacq::tool

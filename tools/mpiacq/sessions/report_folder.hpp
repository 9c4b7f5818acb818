// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "mpiacq/base/error.hpp"
#include "report/findings.hpp"

namespace mpiacq::tool {

/// Makes the folder if it does not exist, and checks that it can be written to. Errors: system, with the path and what
/// to do.
[[nodiscard]] result<void> prepare_report_folder(const std::string& folder);

/// Writes report.txt, report.json and report.html into the folder, each as a whole or not at all. A folder that
/// somebody has removed is made again. Errors: system, if no file can be begun. A failure while a file is written is
/// printed later (whole_file), and `otherwise` is called once for all of them.
[[nodiscard]] result<void> write_report_folder(const std::string& folder, const std::shared_ptr<const findings>& found,
                                               std::function<void()> otherwise);

}  // namespace mpiacq::tool

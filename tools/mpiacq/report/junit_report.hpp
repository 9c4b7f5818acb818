// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "report/findings.hpp"
#include "report/report_stream.hpp"

namespace mpiacq::tool {

/// How a watched job is told to a test service.
enum class junit_outcome : unsigned char {
  passed,  ///< the job has done what it should
  failed,  ///< the job has not: it was reported, or its starter's status is not 0
  error    ///< mpiacq could not watch the job
};

/// One watched job, as a test case.
struct junit_case {
  std::string name;  ///< the command, or the job
  std::chrono::system_clock::time_point began;
  std::chrono::duration<double> took{0};
  std::string host;
  junit_outcome outcome = junit_outcome::passed;
  std::string kind;                       ///< of a failure: "hang", "exit-status"; one word
  std::string message;                    ///< of a failure: one sentence
  std::shared_ptr<const findings> found;  ///< the last report; null if there was none
};

/// Text for the inside of an element or of an attribute. Characters that XML 1.0 forbids, and bytes that are no UTF-8,
/// are escaped as in all reports; line feeds stay.
[[nodiscard]] std::string xml_text(std::string_view text);

/// A JUnit file with one test case. The text report is the contents of the failure, or the output of a case that has
/// passed. A long text report is cut short, because services refuse large files.
void write_junit(report_stream& out, const junit_case& done);

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "mpiacq/base/error.hpp"

namespace mpiacq::tool {

/// The problems of a job as a whole. Text shows each problem once: the next report contains it, or, where no report is
/// to be expected, standard error does. Each JSON document contains all problems, and standard error every one too,
/// because the document is for programs.
class job_problems {
 public:
  explicit job_problems(bool json) : json_(json), waits_for_report_(!json) {}

  /// Keeps the problem for the next report, or prints it now if no report is to be expected.
  void add(const error& what);
  /// The problems that a report shows which is written now.
  [[nodiscard]] std::vector<error> for_report();
  /// Prints the problems that no report has shown. From now on each problem is printed at once.
  void wait_no_longer();

 private:
  bool json_;
  bool waits_for_report_;
  std::vector<error> all_;
  std::size_t shown_ = 0;  ///< so many of the first ones have been printed, or a text report has shown them
};

}  // namespace mpiacq::tool

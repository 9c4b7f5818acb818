// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "mpiacq/base/error.hpp"
#include "options/report_options.hpp"
#include "report/report_stream.hpp"

namespace mpiacq::tool {

/// Writes one report. It runs later on another thread, so that it must own its data.
using report_body = std::function<void(report_stream&)>;

/// The destination of a command's reports: a stream or a file. A file collects text reports one after another; with
/// JSON it always contains one document, the last one.
class report_file {
 public:
  /// Opens the file of -o at once, so that a wrong name is reported before a job is started. No file:
  /// `default_descriptor`; "-": standard output.
  [[nodiscard]] static result<report_file> open(const report_options& options, int default_descriptor);

  /// Hands the report to `output_queue` and does not wait. If it cannot be written, an error is printed then, and the
  /// program's status becomes 125.
  void write(report_body body) const;
  [[nodiscard]] bool is_terminal() const;
  /// Whether a text report gets colour: on a terminal, unless NO_COLOR is set (no-color.org).
  [[nodiscard]] bool wants_colour() const;

 private:
  struct place;
  explicit report_file(std::shared_ptr<const place> where);
  std::shared_ptr<const place> place_;
};

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "mpiacq/error.hpp"

namespace mpiacq::tool {

/// Where reports go: a stream, or a file that always holds the last report only.
class report_file {
 public:
  /// Opens FILE at once, so that a mistake in its name shows before anything is run. Empty: `default_descriptor`; "-":
  /// standard output.
  [[nodiscard]] static result<report_file> open(const std::string& file, int default_descriptor);
  report_file(report_file&& other) noexcept;
  report_file& operator=(report_file&&) = delete;
  ~report_file();

  [[nodiscard]] result<void> write(std::string_view report);
  [[nodiscard]] bool is_terminal() const;
  /// Whether a report for people is in colour there: on a terminal, unless NO_COLOR is set (no-color.org).
  [[nodiscard]] bool wants_colour() const;

 private:
  report_file(int descriptor, bool owned, std::string path);
  int descriptor_;
  bool owned_;
  bool replaces_ = false;  ///< a regular file: each report takes the place of the one before
  std::string path_;
};

}  // namespace mpiacq::tool

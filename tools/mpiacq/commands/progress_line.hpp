// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace mpiacq::tool {

/// One line on standard error that shows the progress of long work, if standard error is a terminal. The destructor
/// removes the line.
class progress_line {
 public:
  explicit progress_line(bool wanted);
  ~progress_line();
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  /// Replaces the line.
  void show(std::string_view text);
  /// Removes the line until `show` is called again.
  void clear();

 private:
  bool shown_;
  bool stands_ = false;
};

}  // namespace mpiacq::tool

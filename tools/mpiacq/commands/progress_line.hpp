// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace mpiacq::tool {

/// One line on standard error that says how far long work is, where that is a terminal and nobody would see anything
/// else. It goes away with this.
class progress_line {
 public:
  explicit progress_line(bool wanted);
  ~progress_line();
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  /// In place of what stood there.
  void show(std::string_view text);
  /// Nothing stands there, until something is shown again.
  void clear();

 private:
  bool shown_;
  bool stands_ = false;
};

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "mpiacq/base/error.hpp"
#include "report/report_stream.hpp"

namespace mpiacq::tool {

/// A file that exists as a whole or not at all: it is written without a name in its folder and then takes the place of
/// the old file of that name. If the program ends before, the old file is still there, and nothing else is.
class whole_file {
 public:
  /// Opens the new file at once, so that a wrong folder is reported before any work. A path that leads to a device or a
  /// pipe is written directly. Errors: system, with the path.
  [[nodiscard]] static result<whole_file> open(const std::string& path);
  /// The same for a file whose name the user did not give. Whatever has this name is replaced, also a link, a device or
  /// a pipe that somebody else has put there.
  [[nodiscard]] static result<whole_file> open_to_replace(const std::string& path);

  /// Writes the contents on the thread that writes all output (output_queue). A failure is printed then; afterwards
  /// `otherwise` is called, or if it is empty, the program's status becomes 125. Both functions must own their data.
  /// Call it once.
  void write(std::function<void(report_stream&)> body, std::function<void()> otherwise = {}) const;

 private:
  struct place;
  explicit whole_file(std::shared_ptr<place> where) : place_(std::move(where)) {}
  std::shared_ptr<place> place_;
};

}  // namespace mpiacq::tool

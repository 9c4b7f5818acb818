// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "helper/library_helper.hpp"
#include "mpiacq/base/error.hpp"
#include "separate/shared_area.hpp"

namespace mpiacq::mqd_host {

/// The process that runs a queue library for one process of the job. The object owns the process: its destructor ends
/// it.
class helper_process {
 public:
  /// `program`: the path of the program; empty: the installed one. `library` is the descriptor of the library's file.
  [[nodiscard]] static result<helper_process> start(const std::string& program, int library,
                                                    const std::optional<base::helper_user>& user);

  [[nodiscard]] shared_area& area() const { return *area_; }
  [[nodiscard]] int socket() const { return helper_.socket.get(); }
  [[nodiscard]] int output() const { return helper_.output.get(); }  ///< a pipe with the process's output
  /// As `helper_child::end`.
  [[nodiscard]] std::optional<int> end(std::chrono::milliseconds patience) { return helper_.child.end(patience); }

 private:
  helper_process(shared_memory area, base::library_helper helper)
      : area_(std::move(area)), helper_(std::move(helper)) {}

  shared_memory area_;
  base::library_helper helper_;
};

}  // namespace mpiacq::mqd_host

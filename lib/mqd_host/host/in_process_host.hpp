// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "helper/library_file.hpp"
#include "library/queue_library_calls.hpp"
#include "mpiacq/queues/queue_host.hpp"

namespace mpiacq::mqd_host {

/// Runs a queue library in this process: for measurements, and for callers that ask for it.
class in_process_host {
 public:
  /// As queue_host::create.
  [[nodiscard]] static result<std::unique_ptr<in_process_host>> create(const std::string& library_path,
                                                                       const queue_host_options& options);
  /// As queue_host::read.
  [[nodiscard]] result<queue_report> read(const queue_subject& subject);

 private:
  in_process_host(base::library_file file, const queue_limits& limits) : file_(std::move(file)), limits_(limits) {}
  [[nodiscard]] result<void> load(report_sink& sink);

  base::library_file file_;
  queue_limits limits_;
  std::optional<queue_library> library_;  ///< empty until the library is loaded; it is never unloaded
};

}  // namespace mpiacq::mqd_host

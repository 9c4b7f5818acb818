// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "helper/library_file.hpp"
#include "host/helper_process.hpp"
#include "mpiacq/queues/queue_host.hpp"

namespace mpiacq::mqd_host {

/// Runs a queue library in a separate process (mqd_host_main.cpp). Each process of the job gets a new one, so that
/// nothing of the library's state passes from one to the next.
class separate_host {
 public:
  /// As queue_host::create.
  [[nodiscard]] static result<std::unique_ptr<separate_host>> create(const std::string& library_path,
                                                                     const queue_host_options& options);
  /// As queue_host::read.
  [[nodiscard]] result<queue_report> read(const queue_subject& subject);

 private:
  separate_host(base::library_file library, queue_host_options options, std::optional<base::helper_user> user)
      : library_(std::move(library)), options_(std::move(options)), user_(user) {}

  base::library_file library_;
  queue_host_options options_;
  std::optional<base::helper_user> user_;  ///< the user that the process becomes; empty: the tool's
};

}  // namespace mpiacq::mqd_host

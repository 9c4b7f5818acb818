// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "mpiacq/mpi2dd/mpi2dd_graph.hpp"

namespace mpiacq::mpi2dd {

/// Readings by `walk_options::read_elsewhere`, returned in the order of the requests. A walk finds all processes of one
/// depth before it merges the first of them, so each depth costs one call.
class remote_readings {
 public:
  /// `options` must outlive it.
  explicit remote_readings(const walk_options& options) : options_(options) {}

  [[nodiscard]] bool reads(std::string_view host) const {
    return options_.is_elsewhere && options_.read_elsewhere && options_.is_elsewhere(host);
  }
  void add(process_request asked) { asked_.push_back(std::move(asked)); }
  /// The next reading. Precondition: a request was added that has not been taken.
  [[nodiscard]] process_account take();

 private:
  void ask();

  const walk_options& options_;
  std::vector<process_request> asked_;
  std::vector<process_account> said_;
  std::size_t taken_ = 0;  ///< of `said_`
};

}  // namespace mpiacq::mpi2dd

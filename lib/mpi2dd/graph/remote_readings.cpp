// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "graph/remote_readings.hpp"

#include <exception>
#include <utility>

#include <fmt/format.h>

namespace mpiacq::mpi2dd {

process_account remote_readings::take() {
  if (taken_ == said_.size()) ask();
  return std::move(said_[taken_++]);
}

void remote_readings::ask() {
  const std::size_t count = asked_.size();
  error why{error_code::system, "read_elsewhere gave no account of this process"};
  taken_ = 0;
  said_.clear();
  try {
    said_ = options_.read_elsewhere(std::exchange(asked_, {}));
  } catch (const std::exception& thrown) {
    said_.clear();
    why.message = fmt::format("reading the process by read_elsewhere: {}", thrown.what());
  }
  said_.resize(count);
  for (process_account& one : said_) {
    if (one.state == visit_state::unreachable && !one.failure) one.failure = why;
  }
}

}  // namespace mpiacq::mpi2dd

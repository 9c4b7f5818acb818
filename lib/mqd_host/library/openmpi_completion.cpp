// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "library/openmpi_completion.hpp"

namespace mpiacq::mqd_host {

void openmpi_completion::asked_for(std::string_view type, std::string_view member) {
  const bool is_request = type == "ompi_request_t" || type == "struct ompi_request_t";
  applies_ = applies_ || (is_request && member == "req_complete");
}

void openmpi_completion::correct(std::span<std::byte> fetched) const {
  constexpr std::byte pending{0};
  constexpr std::byte complete{1};
  if (applies_ && fetched.size() == 1 && fetched.front() != complete) fetched.front() = pending;
}

}  // namespace mpiacq::mqd_host

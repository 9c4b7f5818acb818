// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "calls/mpi_parameters.hpp"

namespace mpiacq {

std::string_view name(mpi_role role) {
  return word_of(role);
}

std::vector<mpi_parameter> parameters_of(std::string_view words) {
  std::vector<mpi_parameter> found;
  while (!words.empty()) {
    if (const auto parameter = parameter_of(take_word(words))) found.push_back(*parameter);
  }
  return found;
}

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/job/job.hpp"

namespace mpiacq {

std::string_view version() {
  return MPIACQ_VERSION;
}

}  // namespace mpiacq

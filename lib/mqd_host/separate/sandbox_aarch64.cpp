// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <linux/audit.h>

#include "separate/sandbox.hpp"

namespace mpiacq::mqd_host {

// This architecture has only the newer calls, which all architectures have.
const sandbox_arch this_arch{AUDIT_ARCH_AARCH64, {}, {}, std::nullopt, {}};

}  // namespace mpiacq::mqd_host

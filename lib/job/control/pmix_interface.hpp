// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "control/process_interface.hpp"

namespace mpiacq {

/// The interface of a starter that is asked and not traced: it has no breakpoint, no symbols and no gates, and asks the
/// job for nothing. `facts`: what the starter says beside its table.
[[nodiscard]] std::unique_ptr<process_interface> make_pmix_interface(mpir::job_facts facts = {});

}  // namespace mpiacq

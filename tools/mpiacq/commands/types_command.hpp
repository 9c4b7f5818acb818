// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpiacq/queues/type_carriers.hpp"

namespace CLI {
class App;
}

namespace mpiacq::tool {

struct types_options {
  bool json = false;
  carrier_request request;
};

/// Declares `mpiacq types` and its options.
CLI::App* add_types_command(CLI::App& app, types_options& options);

[[nodiscard]] int run_types(const types_options& options);

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The document that a command has printed.
#pragma once

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "run_command.hpp"

namespace mpiacq::test {

/// The command must have ended with this status.
inline nlohmann::json json_of(const command_outcome& run, int status = 0) {
  INFO(run.err);
  CHECK(run.exit_code == status);
  REQUIRE(!run.out.empty());
  return nlohmann::json::parse(run.out);
}

}  // namespace mpiacq::test

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>

#include "catch.hpp"
#include "mpiacq/check/check.hpp"
#include "patience.hpp"

namespace mpiacq::test {

/// Watches a job until there is nothing more to see.
inline void watch(check::run& subject) {
  while (!subject.over()) {
    auto event = subject.next(clock::now() + patience);
    REQUIRE(event.has_value());
    if (!*event) continue;
    if (const auto* notice = std::get_if<job_notice>(&**event)) FAIL(notice->what.message);
  }
}

}  // namespace mpiacq::test

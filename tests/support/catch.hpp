// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Catch2, version 2 or 3, and a counted skip, which version 2 lacks.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Matchers::ContainsSubstring;
#else
#include <catch2/catch.hpp>
inline auto ContainsSubstring(const std::string& text) {
  return Catch::Matchers::Contains(text);
}
#endif

#include <string>

namespace mpiacq::test {
/// Records why a test case does not run here. The program then ends with status 77, which ctest counts as skipped.
void note_skip(const std::string& reason);
}  // namespace mpiacq::test

/// Ends the test case, because it cannot run on this machine for the given reason.
#define MPIACQ_SKIP(reason)            \
  do {                                 \
    ::mpiacq::test::note_skip(reason); \
    return;                            \
  } while (false)

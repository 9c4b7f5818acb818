// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_RUNNER
#endif
#include <cstdlib>
#include <iostream>

#include "catch.hpp"
#include "mpiacq/base/error.hpp"

namespace {
bool skipped = false;
constexpr int skip_status = 77;
}  // namespace

namespace mpiacq::test {
void note_skip(const std::string& reason) {
  skipped = true;
  std::cout << "SKIPPED: " << reason << std::endl;
}
}  // namespace mpiacq::test

int main(int argc, char** argv) {
  // The programs have another place relative to a test than to an installed program.
  ::setenv("MPIACQ_LIBEXEC", MPIACQ_BUILT_LIBEXEC, 0);
  // UBSan of clang looks at the first object of a class through a pipe. A test without free descriptors has none.
  (void)mpiacq::error{mpiacq::error_code::system, ""}.with_errno(0);
  Catch::Session session;
#if !__has_include(<catch2/catch_all.hpp>)
  // A name that matches no case must not count as a test that passed; later versions of Catch2 check that themselves.
  session.configData().warnings =
      static_cast<Catch::WarnAbout::What>(session.configData().warnings | Catch::WarnAbout::NoTests);
#endif
  const int failed = session.run(argc, argv);
  return failed == 0 && skipped ? skip_status : failed;
}

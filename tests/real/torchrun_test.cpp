// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Jobs of a launcher in Python that sets torchrun's variables for its workers, and has no interface for tools.
#include "found_job.hpp"

using namespace mpiacq::test;

namespace {

std::vector<std::string> launcher_line(int workers, const std::string& port) {
  return {"python3", MPIACQ_RANK_SOURCES "/torchrun_like.py", std::to_string(workers), port};
}

}  // namespace

TEST_CASE("torchrun's variables: two jobs side by side, each by its launcher and by each of its workers",
          "[releases]") {
  if (!is_installed("python3")) MPIACQ_SKIP("python3 is not installed");
  running_job first(launcher_line(3, "29511"), 3), second(launcher_line(2, "29512"), 2);
  REQUIRE(first.ranks().size() == 3);
  REQUIRE(second.ranks().size() == 2);
  check_side_by_side(first, second, "torchrun");
}

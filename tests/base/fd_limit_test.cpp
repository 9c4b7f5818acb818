// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "descriptors/fd_limit.hpp"

#include <sys/resource.h>

#include "catch.hpp"

using namespace mpiacq;

namespace {

/// The destructor restores the limit of this process.
class kept_limit {
 public:
  kept_limit() { REQUIRE(::getrlimit(RLIMIT_NOFILE, &given_) == 0); }
  ~kept_limit() { ::setrlimit(RLIMIT_NOFILE, &given_); }
  kept_limit(const kept_limit&) = delete;
  kept_limit& operator=(const kept_limit&) = delete;
  void set_soft(rlim_t soft) const {
    const rlimit wanted{soft, given_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &wanted) == 0);
  }
  [[nodiscard]] rlim_t hard() const { return given_.rlim_max; }

 private:
  rlimit given_{};
};

rlim_t soft_limit() {
  rlimit now{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &now) == 0);
  return now.rlim_cur;
}

}  // namespace

TEST_CASE("the descriptor limit is raised to the requested number, and not lowered") {
  const kept_limit kept;
  kept.set_soft(100);
  const auto raised = base::raise_fd_limit(200);
  REQUIRE(raised.has_value());
  CHECK(raised->before == 100);
  CHECK(raised->now == 200);
  CHECK(soft_limit() == 200);
  CHECK(base::raise_fd_limit(150)->now == 200);
  CHECK(soft_limit() == 200);
}

TEST_CASE("the descriptor limit is raised no further than the hard limit") {
  const kept_limit kept;
  kept.set_soft(100);
  const auto raised = base::raise_fd_limit(static_cast<std::size_t>(-1));
  REQUIRE(raised.has_value());
  CHECK(raised->now == kept.hard());
}

TEST_CASE("a descriptor limit that other code has set meanwhile stays") {
  const kept_limit kept;
  kept.set_soft(100);
  base::change_fd_limit(99, 50);
  CHECK(soft_limit() == 100);
  base::change_fd_limit(100, 50);
  CHECK(soft_limit() == 50);
}

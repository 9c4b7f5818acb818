// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A deadline and a cancellation as one descriptor to poll.
#include "limit_descriptor.hpp"

#include <array>

#include <poll.h>
#include <unistd.h>

#include "catch.hpp"
#include "descriptors/unique_fd.hpp"

using namespace mpiacq;

namespace {

bool can_be_read(int fd) {
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, 0) > 0;
}

struct some_pipe {
  some_pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    read_end = base::unique_fd(ends[0]);
    write_end = base::unique_fd(ends[1]);
  }
  base::unique_fd read_end, write_end;
};

}  // namespace

TEST_CASE("time limit: without a deadline the descriptor is the caller's") {
  CHECK(limit_descriptor({}).get() == -1);
  const some_pipe cancel;
  CHECK(limit_descriptor({no_deadline, cancel.read_end.get()}).get() == cancel.read_end.get());
}

TEST_CASE("time limit: a deadline that has passed can be read, one that has not cannot") {
  const limit_descriptor past(clock::now() - std::chrono::seconds(1)), future(in(std::chrono::hours(1)));
  CHECK(can_be_read(past.get()));
  CHECK_FALSE(can_be_read(future.get()));
  CHECK(is_stopped_within(std::chrono::hours(1), past.get()));
  CHECK_FALSE(is_stopped_within(std::chrono::milliseconds(1), future.get()));
}

TEST_CASE("time limit: whichever comes first ends the call") {
  const some_pipe cancel;
  const limit_descriptor past(time_limit(clock::now() - std::chrono::seconds(1), cancel.read_end.get()));
  CHECK(can_be_read(past.get()));
  const limit_descriptor future(in(std::chrono::hours(1), cancel.read_end.get()));
  CHECK_FALSE(can_be_read(future.get()));
  REQUIRE(::write(cancel.write_end.get(), "x", 1) == 1);
  CHECK(can_be_read(future.get()));
}

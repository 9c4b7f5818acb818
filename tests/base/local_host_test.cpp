// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "proc/local_host.hpp"

#include <array>

#include <unistd.h>

#include "catch.hpp"

using mpiacq::local_host;

TEST_CASE("a host is recognised by its names") {
  const local_host here("Node7.cluster.example", {});
  CHECK(here.is_called("node7"));
  CHECK(here.is_called("NODE7.cluster.example"));
  CHECK(here.is_called("localhost"));
  CHECK_FALSE(here.is_called("node70"));
  CHECK_FALSE(here.is_called("node7.other.example"));
  CHECK_FALSE(here.is_called(""));
  CHECK(local_host("node7", {}).is_called("node7.cluster.example"));
}

TEST_CASE("a host is recognised by its addresses in any spelling") {
  const local_host here("n", {"10.1.2.3", "fe80::1"});
  CHECK(here.is_called("10.1.2.3"));
  CHECK(here.is_called("127.0.0.1"));
  CHECK(here.is_called("127.0.1.1"));
  CHECK(here.is_called("fe80:0:0:0:0:0:0:1"));
  CHECK(here.is_called("fe80::1%eth0"));
  CHECK_FALSE(here.is_called("10.1.2.4"));
  CHECK_FALSE(here.is_called("fe80::2"));
}

TEST_CASE("a bare node number is no name of this host") {
  CHECK_FALSE(local_host("n", {"10.1.2.3"}).is_called("42"));
}

TEST_CASE("this host is recognised by the name that the system gives") {
  std::array<char, 256> name{};
  REQUIRE(::gethostname(name.data(), name.size() - 1) == 0);
  CHECK(local_host::of_this_system().is_called(name.data()));
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Our declarations of PMIx's structures. pmix_headers.cpp compares them with PMIx's own when this program is compiled.
#include "separate/pmix_abi.hpp"

#include "catch.hpp"

using namespace mpiacq::pmix;

TEST_CASE("our declarations of PMIx have the sizes of the PMIx Standard's") {
  CHECK(sizeof(abi::proc) == 260);
  CHECK(sizeof(abi::value) == 32);
  CHECK(sizeof(abi::info) == 552);
  CHECK(sizeof(abi::data_array) == 24);
  CHECK(sizeof(abi::proc_info) == 296);
  CHECK(sizeof(abi::app) == 56);
}

TEST_CASE("our declarations of PMIx agree with the installed headers") {
#ifndef MPIACQ_HAS_PMIX_HEADERS
  MPIACQ_SKIP("PMIx's headers are not installed (libpmix-dev)");
#endif
  SUCCEED("the comparison is a part of the compilation");
}

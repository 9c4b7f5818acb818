// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Walks that must succeed.
#pragma once

#include <string>
#include <utility>

#include "catch.hpp"
#include "fake_job.hpp"

namespace mpiacq::test {

inline mpi2dd::graph walked(fake_job& job, const std::string& host, std::int32_t pid,
                            const mpi2dd::walk_options& options = {}) {
  auto g = mpi2dd::walk({host, process_id{pid}, ""}, job.opener(), options);
  if (!g) FAIL(g.error().message);
  return std::move(*g);
}

}  // namespace mpiacq::test

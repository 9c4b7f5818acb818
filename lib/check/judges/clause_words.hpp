// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The vocabulary of the rows of the clause tables.
#pragma once

#include "mpiacq/check/check.hpp"

namespace mpiacq::check {

inline constexpr auto must = binding::must;
inline constexpr auto should = binding::should;
inline constexpr auto both = applies::both;
inline constexpr auto launch = applies::launch;

}  // namespace mpiacq::check

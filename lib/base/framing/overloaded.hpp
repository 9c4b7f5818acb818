// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mpiacq::base {

/// One call operator for each alternative of a variant, for std::visit.
template <class... Cases>
struct overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
overloaded(Cases...) -> overloaded<Cases...>;

}  // namespace mpiacq::base

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "mpiacq/base/error.hpp"

namespace mpiacq::base {

template <class Value>
Value value_of(result<Value>&& known_good) {
  return *std::move(known_good);
}
inline void value_of(result<void>&&) {}

}  // namespace mpiacq::base

/// The value of a `result<T>`, or an early return of its error from the function, which returns a `result` too:
///
///   const auto table = TRY(read_table(target));
///   TRY(tracer.detach(pid));
///
/// The expression is evaluated once. The value is moved out of the result.
/// This is a statement expression of GCC and clang: standard C++ has no expression that returns from its function.
#define TRY(...)                                                           \
  __extension__({                                                          \
    auto try_result = (__VA_ARGS__);                                       \
    if (!try_result) return ::mpiacq::fail(std::move(try_result).error()); \
    ::mpiacq::base::value_of(std::move(try_result));                       \
  })

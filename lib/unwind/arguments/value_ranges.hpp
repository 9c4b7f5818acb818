// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "arguments/value_graph.hpp"

namespace mpiacq::unwinding {

/// The numbers that values can be, from what the code has compared them with. Numbers have no sign.
class value_ranges {
 public:
  /// The bounds are included.
  struct range {
    std::uint64_t low = 0;
    std::uint64_t high = ~std::uint64_t{0};
  };

  /// From here on, `id` is at most `high`.
  void limit(const value_graph& values, value_id id, std::uint64_t high);
  /// Whether the code has compared this very value.
  [[nodiscard]] bool is_limited(value_id id) const { return ranges_.contains(id); }
  /// Empty: nothing is known of `id`. May add values to the graph.
  [[nodiscard]] std::optional<range> of(value_graph& values, value_id id, std::size_t depth = 0) const;

 private:
  void narrow(value_id id, const range& to);

  std::map<value_id, range> ranges_;
};

}  // namespace mpiacq::unwinding

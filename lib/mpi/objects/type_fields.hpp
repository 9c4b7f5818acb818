// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The members of an MPI's own types that are no larger than an integer.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "mpiacq/process/type_source.hpp"

namespace mpiacq {

/// A member that is no larger than an integer.
struct field {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// Answers where the members of one type after another are.
class type_reader {
 public:
  explicit type_reader(type_source& types) : types_(types) {}
  /// Returns false if the type is not known.
  [[nodiscard]] bool open(std::string_view type);
  /// The size in bytes of the type that is open; 0 if none is.
  [[nodiscard]] std::uint64_t bytes() const { return known_ ? layout_.size : 0; }
  [[nodiscard]] std::optional<field> find(std::string_view name, std::uint64_t largest = sizeof(std::uint64_t)) const;
  /// Whether the type has the field.
  [[nodiscard]] bool take(std::string_view name, field& into) const;

 private:
  type_source& types_;
  structure_layout layout_;
  bool known_ = false;
};

/// The number of a communicator that Open MPI's queue library gives as its id. `type` has ompi_communicator_t open. In
/// Open MPI 5 this is c_index, and c_contextid is another number.
[[nodiscard]] bool take_communicator_id(const type_reader& type, field& into);

}  // namespace mpiacq

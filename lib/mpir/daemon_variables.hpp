// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpiacq/mpir/mpir_acquisition.hpp"

namespace mpiacq::mpir {

/// MPIR_executable_path, MPIR_server_arguments and MPIR_forward_output in one starter: their new and their old
/// contents.
class daemon_variables {
 public:
  /// The writes of a request, all of them or none. Errors: unsupported (the starter lacks a variable),
  /// invalid_argument and limit (as `encode_...`), and those of reading the old contents.
  [[nodiscard]] result<std::vector<write_memory>> request(const target& starter, const symbol_set& symbols,
                                                          const daemon_request& daemons);

  /// For a tool without daemons: the path that another tool has left, and the write that empties it. No write if the
  /// path is empty.
  struct leftover {
    std::string path;
    write_memory hide;
  };
  [[nodiscard]] result<std::optional<leftover>> hide_leftover(const target& starter, const symbol_set& symbols);

  /// The writes that restore the old contents, in reverse order. A second call returns no writes.
  [[nodiscard]] std::vector<write_memory> put_back();

 private:
  std::vector<write_memory> before_;
};

/// The size of an array variable in bytes: the symbol's size, or the document's if the symbol has none.
[[nodiscard]] std::size_t capacity_of(known k, const symbol& variable);

}  // namespace mpiacq::mpir

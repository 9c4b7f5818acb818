// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpiacq/mpir/mpir_acquisition.hpp"

namespace mpiacq::mpir {

/// MPIR_executable_path and its companions in one starter: what is written into them, and what stood there before.
class daemon_variables {
 public:
  /// What to write for a request: all of it, or an error and nothing. unsupported (the starter lacks a variable),
  /// invalid_argument and limit (as `encode_...`), and what reading the old contents gives.
  [[nodiscard]] result<std::vector<write_memory>> request(const target& starter, const symbol_set& symbols,
                                                          const daemon_request& daemons);

  /// For a tool that asks for no daemons: the path that another tool has left, and what empties it. No write where
  /// there is none.
  struct leftover {
    std::string path;
    write_memory hide;
  };
  [[nodiscard]] result<std::optional<leftover>> hide_leftover(const target& starter, const symbol_set& symbols);

  /// What puts everything back that was handed out, the last first; nothing a second time.
  [[nodiscard]] std::vector<write_memory> put_back();

 private:
  std::vector<write_memory> before_;
};

/// The bytes that an array variable has: its symbol's size, and what the document gives it where the symbol tells none.
[[nodiscard]] std::size_t capacity_of(known k, const symbol& variable);

}  // namespace mpiacq::mpir

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "arguments/call_recipe.hpp"

namespace mpiacq::unwinding {

/// How a recipe was made.
enum class recipe_source : std::uint8_t { code, description, called_function };

/// The recipes of the calls in one module, by the offset of their return addresses; `called_function`: of the functions
/// in one module, by the offset of the place where they stand. Thread: any, several at a time.
class known_calls {
 public:
  /// The ranks of a job stand in few calls. Beyond this number, each look-up analyses the code again.
  static constexpr std::size_t most = 4096;

  /// Null: the call is not known yet.
  [[nodiscard]] std::shared_ptr<const call_recipe> find(std::uint64_t return_address, recipe_source source) const {
    const std::lock_guard lock{mutex_};
    const auto known = recipes_.find({return_address, source});
    return known == recipes_.end() ? nullptr : known->second;
  }
  void add(std::uint64_t return_address, recipe_source source, const std::shared_ptr<const call_recipe>& recipe) {
    const std::lock_guard lock{mutex_};
    if (recipes_.size() < most) recipes_.try_emplace({return_address, source}, recipe);
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::uint64_t, recipe_source>, std::shared_ptr<const call_recipe>> recipes_;
};

}  // namespace mpiacq::unwinding

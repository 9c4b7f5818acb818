// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Types of an MPI, made up.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpiacq/process/type_source.hpp"

namespace mpiacq::test {

class made_types final : public type_source {
 public:
  void define(const std::string& name, std::vector<structure_member> members, std::uint64_t size = 128) {
    structure_layout layout;
    layout.name = name;
    layout.size = size;
    layout.members = std::move(members);
    known_[name] = std::move(layout);
  }
  void define_enumeration(const std::string& name, std::vector<enumerator> enumerators) {
    define(name, {});
    known_[name].enumerators = std::move(enumerators);
  }
  void forget(const std::string& name) { known_.erase(name); }
  result<std::optional<structure_layout>> type_named(std::string_view name, source_language /*language*/) override {
    const auto at = known_.find(std::string(name));
    return at == known_.end() ? std::nullopt : std::optional(at->second);
  }

 private:
  std::map<std::string, structure_layout> known_;
};

inline structure_member number(const std::string& name, std::uint64_t offset, std::uint64_t size = 4) {
  return {name, offset, size, false, true};
}

}  // namespace mpiacq::test

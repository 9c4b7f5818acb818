// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "mpiacq/process/unwinder.hpp"
#include "tables/module_table.hpp"

namespace mpiacq {

namespace unwinding {

class shared_tables {
 public:
  /// The tables of a module: one object for all equal modules.
  [[nodiscard]] std::shared_ptr<module_table> of(const architecture& machine, const unwind_module& m);

 private:
  std::mutex adding_;
  std::map<std::string, std::shared_ptr<module_table>> by_identity_;
};

}  // namespace unwinding

struct unwind_tables::state {
  unwinding::shared_tables tables;
};

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "library/entry_points.hpp"
#include "library/report_sink.hpp"
#include "mpiacq/base/error.hpp"

namespace mpiacq::mqd_host {

/// A queue library in this process. It is never unloaded (Message Queue Dumping 1.06, "Shutdown"), so the object can be
/// copied.
class queue_library {
 public:
  /// Loads the library, checks its version and gives it its basic callbacks once. `load_path` is the path for dlopen,
  /// `shown_path` the path in messages. `file`: the open file that `load_path` must lead to; -1: any file. Errors:
  /// bad_format (cannot be loaded, or lacks an entry point, which the message names), unsupported (another version or
  /// width).
  [[nodiscard]] static result<queue_library> load(const std::string& load_path, const std::string& shown_path,
                                                  report_sink& sink, int file = -1);

  [[nodiscard]] const library_facts& facts() const { return facts_; }
  [[nodiscard]] bool has(entry_point entry) const { return functions_[static_cast<std::size_t>(entry)] != nullptr; }
  /// The library's function as the type `Function`. The caller is responsible for the type.
  template <class Function>
  [[nodiscard]] Function* function(entry_point entry) const {
    return reinterpret_cast<Function*>(functions_[static_cast<std::size_t>(entry)]);
  }

 private:
  queue_library() = default;
  [[nodiscard]] result<void> find_functions(void* handle, const std::string& shown_path);
  void find_extension(void* handle);
  [[nodiscard]] result<void> check_version(const std::string& shown_path, report_sink& sink);

  std::array<void*, entry_point_count> functions_{};
  library_facts facts_;
};

}  // namespace mpiacq::mqd_host

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpiacq/base/error.hpp"
#include "separate/pmix_abi.hpp"

namespace mpiacq::pmix {

/// The functions of a PMIx library in this process. The library is never unloaded: its threads may still run.
class pmix_library {
 public:
  /// Loads the library behind an open file. `shown_path`: for sentences. Errors: bad_format (it cannot be loaded, or
  /// lacks a function).
  [[nodiscard]] static result<pmix_library> load(int file, const std::string& shown_path);

  /// "5.0.7": the version in the text of PMIx_Get_version; the whole text if it has another form.
  [[nodiscard]] std::string version() const;
  /// "PMIX_ERR_UNREACH (-25)"
  [[nodiscard]] std::string name_of(abi::status status) const;

  abi::tool_init* tool_init = nullptr;
  abi::tool_finalize* tool_finalize = nullptr;
  abi::query_info_nb* query_info_nb = nullptr;
  abi::get_nb* get_nb = nullptr;
  abi::register_event_handler* register_event_handler = nullptr;
  abi::notify_event* notify_event = nullptr;
  abi::spawn_nb* spawn_nb = nullptr;

 private:
  abi::get_version* get_version_ = nullptr;
  abi::error_string* error_string_ = nullptr;
};

}  // namespace mpiacq::pmix

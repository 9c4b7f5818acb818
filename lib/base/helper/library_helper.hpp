// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The start of a helper process that loads a foreign library. helper_begin.hpp has its first steps.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "descriptors/unique_fd.hpp"
#include "helper/helper_child.hpp"
#include "helper/less_rights.hpp"
#include "mpiacq/base/error.hpp"

namespace mpiacq::base {

/// A program that libraries run in.
struct helper_program {
  std::string_view name;     ///< of the file
  std::string_view process;  ///< "the process that asks PMIx": for the sentences of errors
  std::string_view program;  ///< "the program that asks PMIx servers"
};

struct library_helper {
  helper_child child;
  unique_fd socket;
  unique_fd output;  ///< a pipe with the standard output and error of the helper; it does not block
};

/// Starts the helper. `path`: the path of its program; empty: the installed one. `given`: descriptors that the helper
/// gets after its socket, in this order. The only variable that the helper keeps is LD_LIBRARY_PATH, which the loader
/// needs to find the dependencies of a library. Errors: system; as `not_startable`.
[[nodiscard]] result<library_helper> start_library_helper(const helper_program& what, const std::string& path,
                                                          std::span<const int> given,
                                                          const std::optional<helper_user>& user);

}  // namespace mpiacq::base

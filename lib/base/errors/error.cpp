// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/base/error.hpp"

#include <array>
#include <system_error>

namespace mpiacq {

namespace {
constexpr std::array<std::string_view, 13> code_names = {
    "invalid_argument",  "not_found", "permission", "process_gone", "busy",        "exec_failed", "bad_format",
    "unreadable_memory", "limit",     "timed_out",  "wrong_thread", "unsupported", "system"};
static_assert(code_names.size() == static_cast<std::size_t>(error_code::system) + 1);
}  // namespace

std::string_view name(error_code code) {
  return code_names[static_cast<std::size_t>(code)];
}

error&& error::with_errno(int errno_value) && {
  system_errno = errno_value;
  message += ": ";
  message += std::generic_category().message(errno_value);
  return std::move(*this);
}

error&& error::at(target_address where) && {
  address = where;
  return std::move(*this);
}

error&& error::on(std::string file) && {
  path = std::move(file);
  return std::move(*this);
}

error&& error::while_doing(std::string_view what) && {
  message.insert(0, ": ").insert(0, what);
  return std::move(*this);
}

}  // namespace mpiacq

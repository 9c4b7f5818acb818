// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/mpir/mpir_daemons.hpp"

#include <array>

#include <fmt/format.h>

namespace mpiacq::mpir {

namespace {

void append(std::vector<std::byte>& bytes, std::string_view text) {
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  bytes.push_back(std::byte{0});
}

bool has_null(std::string_view text) {
  return text.find('\0') != std::string_view::npos;
}

}  // namespace

std::string_view name(daemon_launch how) {
  constexpr std::array<std::string_view, 6> names = {"not-asked", "refused",    "at-spawn",
                                                     "by-fifo",   "by-polling", "done"};
  return names[static_cast<std::size_t>(how)];
}

result<std::vector<std::byte>> encode_executable_path(std::string_view path, std::size_t capacity) {
  if (path.empty()) return fail(error_code::invalid_argument, "the daemon's path is empty");
  if (has_null(path)) {
    return fail(error_code::invalid_argument,
                fmt::format("the daemon's path has a null byte at {}, where it would end", path.find('\0')));
  }
  if (path.size() + 1 > capacity) {
    return fail(
        error_code::limit,
        fmt::format("the daemon's path takes {} bytes with its null, and the starter's MPIR_executable_path has "
                    "{}: give a shorter one, such as a link's",
                    path.size() + 1, capacity));
  }
  std::vector<std::byte> bytes;
  append(bytes, path);
  return bytes;
}

result<std::vector<std::byte>> encode_server_arguments(std::span<const std::string> arguments, std::size_t capacity) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].empty()) {
      return fail(error_code::invalid_argument,
                  fmt::format("the daemon's argument {} is empty: in MPIR_server_arguments that would end the list "
                              "(MPIR 1.1, 9.16)",
                              i + 1));
    }
    if (has_null(arguments[i])) {
      return fail(error_code::invalid_argument,
                  fmt::format("the daemon's argument {} has a null byte at {}, where it would end", i + 1,
                              arguments[i].find('\0')));
    }
    append(bytes, arguments[i]);
  }
  bytes.push_back(std::byte{0});
  if (bytes.size() > capacity) {
    return fail(error_code::limit,
                fmt::format("the daemon's arguments take {} bytes with their nulls, and the starter's "
                            "MPIR_server_arguments has {}: give fewer, or put them into a file",
                            bytes.size(), capacity));
  }
  return bytes;
}

}  // namespace mpiacq::mpir

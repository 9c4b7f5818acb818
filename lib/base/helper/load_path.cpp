// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "helper/load_path.hpp"

#include <array>

#include <sys/stat.h>
#include <unistd.h>

namespace mpiacq::base {

bool is_name_of(const std::string& path, int file) {
  struct stat named {};
  struct stat open {};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(file, &open) == 0 && named.st_dev == open.st_dev &&
         named.st_ino == open.st_ino;
}

std::string load_path_of(int file) {
  std::string by_number = "/proc/self/fd/" + std::to_string(file);
  std::array<char, 4096> name{};
  const ssize_t length = ::readlink(by_number.c_str(), name.data(), name.size());
  std::string path(name.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return path.starts_with('/') && path.size() < name.size() && is_name_of(path, file) ? path : by_number;
}

}  // namespace mpiacq::base

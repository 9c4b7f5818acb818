// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpiacq/base/error.hpp"

namespace mpiacq::carriers {

/// The name of a library's carrier in the cache.
[[nodiscard]] std::string carrier_file_name(const std::vector<std::byte>& build_id);

/// Makes the folder and those above it, for its owner alone. permission: it is there, and others can write into it.
[[nodiscard]] result<void> make_private_folder(const std::string& folder);

/// Whether this is the user's own (or root's) and nobody else can write it. permission: whose it is, or who can;
/// not_found.
[[nodiscard]] result<void> check_private(const std::string& path);

/// A folder for the time of the work, within another one, so that what is made there can be moved into place in one
/// step. It goes away with what is left in it.
class work_folder {
 public:
  [[nodiscard]] static result<work_folder> make(const std::string& within);
  ~work_folder();
  work_folder(work_folder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  work_folder& operator=(work_folder&&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit work_folder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace mpiacq::carriers

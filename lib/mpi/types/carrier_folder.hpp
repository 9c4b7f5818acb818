// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpiacq/base/error.hpp"

namespace mpiacq::carriers {

/// The file name of a library's carrier in the cache.
[[nodiscard]] std::string carrier_file_name(const std::vector<std::byte>& build_id);

/// Makes the folder and its parents with access for the owner only. Errors: permission (it exists, and other users can
/// write it).
[[nodiscard]] result<void> make_private_folder(const std::string& folder);

/// Whether a file or folder belongs to the user or to root, and no other user can write it. Errors: permission (the
/// message names the owner, or says that others can write it); not_found.
[[nodiscard]] result<void> check_private(const std::string& path);

/// A temporary folder inside another folder, so that a file made there can be moved into place in one step. The
/// destructor removes it with its contents.
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

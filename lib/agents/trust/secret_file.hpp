// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The secret of a run where there is no MUNGE: a key in a file that only the user can read.
#pragma once

#include <string>

#include "trust/curve_keys.hpp"

namespace mpiacq::agents {

/// A new file with a new key, removed when this ends.
class secret_file {
 public:
  /// `folder`: empty for the user's home directory. Files there of runs that were killed, and could not remove them,
  /// are removed. permission: others can write the folder.
  [[nodiscard]] static result<secret_file> create(const std::string& folder);
  ~secret_file();
  secret_file(secret_file&& other) noexcept;
  secret_file& operator=(secret_file&&) = delete;

  [[nodiscard]] const key_pair& keys() const { return keys_; }
  /// As an agent on another node finds it: below "~/" where that is the folder.
  [[nodiscard]] const std::string& told_path() const { return told_path_; }

 private:
  secret_file() = default;
  std::string path_;
  std::string told_path_;
  key_pair keys_;
};

/// The key in such a file. permission: it is not the user's, or others can read it; not_found; bad_format.
[[nodiscard]] result<key_pair> read_secret(const std::string& told_path);

/// Of the user that this process runs as, by the password database.
[[nodiscard]] result<std::string> home_directory();

}  // namespace mpiacq::agents

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The secret of a run without MUNGE: a key in a file that only the user can read.
#pragma once

#include <string>

#include "trust/curve_keys.hpp"

namespace mpiacq::agents {

/// A new file with the secret key of a run. The destructor removes it.
class secret_file {
 public:
  /// `folder`: empty for the user's home directory. Also removes the files that killed runs have left there.
  /// permission: other users can write to the folder.
  [[nodiscard]] static result<secret_file> create(const std::string& folder);
  ~secret_file();
  secret_file(secret_file&& other) noexcept;
  secret_file& operator=(secret_file&&) = delete;

  [[nodiscard]] const key_pair& keys() const { return keys_; }
  /// The path by which an agent on another node finds the file: it begins with "~/" in the home directory.
  [[nodiscard]] const std::string& path_for_agents() const { return path_for_agents_; }

 private:
  secret_file() = default;
  std::string path_;
  std::string path_for_agents_;
  key_pair keys_;
};

/// The key in such a file. permission: the file is not the user's, or others can read it; not_found; bad_format.
[[nodiscard]] result<key_pair> read_secret(const std::string& path_for_agents);

/// The home directory of this process's user in the password database.
[[nodiscard]] result<std::string> home_directory();

}  // namespace mpiacq::agents

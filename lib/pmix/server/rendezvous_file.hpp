// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The file in which a PMIx server says to the tools of its user where it listens.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/ids.hpp"

namespace mpiacq::pmix {

/// What such a file says, one line each.
struct rendezvous {
  std::string uri;      ///< "prterun-node-42@0.0;tcp4://192.0.2.2:52217"
  std::string version;  ///< "5.0.7a1"; empty if the file lacks it
  process_id pid;       ///< of the server
  friend bool operator==(const rendezvous&, const rendezvous&) = default;
};

/// Empty if the text is none: the first line is no URI, or the third one no pid.
[[nodiscard]] std::optional<rendezvous> parse_rendezvous(std::string_view text);

/// Whether a text has the form of a PMIx URI, "NAME.RANK;PROTOCOL://ADDRESS", of printable characters.
[[nodiscard]] bool is_pmix_uri(std::string_view text);

/// The rendezvous file of the server with this pid, in a folder for temporary files or one of the folders in it. Only
/// files of this user in folders of this user, or directly in `folder`, count: another user's file would lead to
/// another user's server. Empty if there is none.
[[nodiscard]] std::optional<rendezvous> find_rendezvous(const std::string& folder, process_id server, user_id user);

}  // namespace mpiacq::pmix

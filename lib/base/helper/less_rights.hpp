// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a helper process gives up before foreign code runs in it.
#pragma once

#include <cstdint>
#include <optional>

#include <sys/types.h>

namespace mpiacq::base {

/// The user that a helper process becomes before it does anything else.
struct helper_user {
  uid_t user = 0;
  gid_t group = 0;
};

/// The user that a helper of this program becomes to act for `owner`, the user of the job. Empty if the helper keeps
/// this program's user: only root can become another one.
[[nodiscard]] std::optional<helper_user> user_to_become(const std::optional<std::uint32_t>& owner);

/// Makes this process run as the user permanently, with no group but `group`. Returns 0 or an errno.
[[nodiscard]] int become(uid_t user, gid_t group);

/// Drops all capabilities. Root keeps only the access to files that root owns.
void drop_capabilities();

/// Sets the soft and the hard value of a limit of setrlimit(2) to `most`, or to the hard value of before if that is
/// lower. `resource`: RLIMIT_AS and the like.
void limit_resource(int resource, std::uint64_t most);

}  // namespace mpiacq::base

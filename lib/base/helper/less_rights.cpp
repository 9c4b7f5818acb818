// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "helper/less_rights.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mpiacq::base {

namespace {
constexpr gid_t nogroup = 65534;
}  // namespace

std::optional<helper_user> user_to_become(const std::optional<std::uint32_t>& owner) {
  if (!owner || ::geteuid() != 0 || *owner == 0) return std::nullopt;
  std::array<char, 16384> room{};
  passwd entry{};
  passwd* found = nullptr;
  const bool known = ::getpwuid_r(*owner, &entry, room.data(), room.size(), &found) == 0 && found != nullptr;
  return helper_user{*owner, known ? entry.pw_gid : nogroup};
}

int become(uid_t user, gid_t group) {
  if (::setgroups(0, nullptr) != 0 || ::setresgid(group, group, group) != 0 || ::setresuid(user, user, user) != 0) {
    return errno;
  }
  return user != 0 && ::setuid(0) == 0 ? EPERM : 0;  // the process must not be able to return to root
}

void drop_capabilities() {
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0; ++capability) {
  }
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  ::syscall(SYS_capset, &head, none.data());
}

void limit_resource(int resource, std::uint64_t most) {
  const auto what = static_cast<decltype(RLIMIT_AS)>(resource);
  rlimit now{};
  ::getrlimit(what, &now);
  const rlim_t value = std::min<rlim_t>(now.rlim_max, most);
  const rlimit wanted{value, value};
  ::setrlimit(what, &wanted);
}

}  // namespace mpiacq::base

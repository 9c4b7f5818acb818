// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "proc/process_facts.hpp"

namespace mpiacq {

/// The names and addresses of this host.
class local_host {
 public:
  /// Asks the system: host name, and the addresses of all interfaces.
  [[nodiscard]] static local_host of_this_system();
  /// The same with the names and addresses that a process of this node knows in addition, if it is in a container that
  /// has its own; empty if it is not. The kernel lets root alone ask in the process's namespaces; for others, the name
  /// is what /etc/hostname below the process's root says.
  [[nodiscard]] static std::optional<local_host> inside(const process_facts& process);
  /// For tests: a host with only these.
  local_host(std::string_view host_name, std::set<std::string> addresses);

  /// Whether `host`, as a starter wrote it, is this host: its name with or without a domain, "localhost", or one of its
  /// addresses in any spelling. Names are not looked up in the DNS, because a look-up can hang.
  [[nodiscard]] bool is_called(std::string_view host) const;
  /// The name from the system; "localhost" if the system has none.
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  void add(local_host&& other);

  std::string name_;
  std::set<std::string> other_names_;
  std::set<std::string> addresses_;  ///< in canonical spelling
};

}  // namespace mpiacq

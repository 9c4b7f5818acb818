// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Lists of nodes, as a rank's environment has them, and command lines of ssh.
#include "node_list.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "launcher_hosts.hpp"
#include "mpiacq/base/host_names.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr std::size_t most = 4096;
  if (const auto names = mpiacq::expand_node_list(text, most)) {
    if (names->size() > most) std::abort();
    for (const std::string& name : *names) {
      if (!mpiacq::is_host_name(name)) std::abort();
    }
  }
  if (const auto host = mpiacq::host_in_ssh_command(text)) {
    if (!mpiacq::is_host_name(*host)) std::abort();
  }
  return 0;
}

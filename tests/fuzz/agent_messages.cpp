// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What an agent, or who says to be one, sends.
#include "wire/agent_messages.hpp"

#include <cstdint>
#include <cstdlib>

using namespace mpiacq::agents;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = decode({reinterpret_cast<const std::byte*>(data), size});
  if (!read) return 0;
  const auto written = encode(*read);
  const auto again = decode(written);
  if (!again || encode(*again) != written) std::abort();
  // What unfolds only where somebody wants it.
  const auto* said = std::get_if<answer>(&*read);
  const auto* visits = said != nullptr && said->what ? std::get_if<visits_part>(&*said->what) : nullptr;
  if (visits == nullptr) return 0;
  account_maker accounts;
  for (const agent_accounts& one : visits->of) {
    for (const account_part& part : one.said) {
      if (accounts.make(part).state == mpiacq::mpi2dd::visit_state::waiting) std::abort();
    }
  }
  return 0;
}

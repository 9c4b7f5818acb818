// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the front end and an agent prove themselves with where there is no munged.
#pragma once

#include <string>

#include "run_command.hpp"
#include "trust/trust.hpp"

namespace mpiacq::test {

/// The front end's and an agent's proof by a secret file, in a folder without a munged's socket.
struct secrets {
  scratch_folder folder;
  std::string no_munge = folder.path(".") + "/no-socket";
  agents::trust front = agents::trust::for_front_end(no_munge, folder.path(".")).value();
  agents::trust agent = agents::trust::for_agent(front.proof()).value();
};

}  // namespace mpiacq::test

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/core_memory.hpp"
#include "mpiacq/process/core_file.hpp"

namespace mpiacq {

/// The parts of an open core, each after the parts that it uses.
struct core_file::state {
  core_file_options options;
  elf::image core;
  elf::core_notes notes;
  std::vector<error> problems;
  elf::core_places places{notes, options};
  std::string executable{};
  elf::core_memory memory{core, notes, places, problems};
};

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Writes the seeds of fuzz_core into the folder that its argument names: a good core of each ABI, one that lists mapped
// files, one whose pieces are not all dumped.
#include <string>

#include "core_job.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = std::string{argv[1]} + "/";
  const struct {
    const char* name;
    target_abi abi;
  } kinds[] = {{"lp64le", abi_of_elf(ELFCLASS64, ELFDATA2LSB, EM_X86_64)},
               {"ilp32le", abi_of_elf(ELFCLASS32, ELFDATA2LSB, EM_386)},
               {"ilp32be", abi_of_elf(ELFCLASS32, ELFDATA2MSB, EM_PPC)},
               {"lp64be", abi_of_elf(ELFCLASS64, ELFDATA2MSB, EM_S390)}};
  for (const auto& kind : kinds) core_job{kind.abi}.core().write_to(folder + kind.name);

  core_job aborting{kinds[0].abi};
  aborting.state = 2;
  aborting.abort_reason = "out of nodes";
  aborting.core().write_to(folder + "aborting");

  core_job{kinds[1].abi}
      .core()
      .files({{0x10000, 0x11000, 0, "/bin/starter"},
              {0x700000, 0x702000, 0, "/lib/libx.so"},
              {0x702000, 0x703000, 2, "/lib/libx.so"}})
      .write_to(folder + "files");
  core_job{kinds[3].abi}.core().map(0x700000, {}, 0x2000, PF_R).map(0x702000, {}, 0x1000).write_to(folder + "undumped");
  return 0;
}

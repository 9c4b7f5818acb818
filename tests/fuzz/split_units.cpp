// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Any bytes as a program whose units are split, and any as the file that the rest of them is in: four bytes say how
// many belong to the program, which comes first.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "code_names/code_names.hpp"
#include "dwarf/file_types.hpp"

using namespace mpiacq;

namespace {

int file_of(const std::uint8_t* data, std::size_t size) {
  const int descriptor = ::memfd_create("input", MFD_CLOEXEC);
  if (descriptor < 0 || ::write(descriptor, data, size) != static_cast<ssize_t>(size)) std::abort();
  return descriptor;
}

/// The program's name, next to which there is a package: the link leads to a descriptor.
struct package_link {
  static constexpr int descriptor = 500;
  std::string folder = "/tmp/fuzz_split_units_XXXXXX";
  package_link() {
    const std::string leads_to = "/proc/self/fd/" + std::to_string(descriptor);
    if (::mkdtemp(folder.data()) == nullptr) std::abort();
    if (::symlink(leads_to.c_str(), (folder + "/program.dwp").c_str()) != 0) std::abort();
  }
  ~package_link() {
    ::unlink((folder + "/program.dwp").c_str());
    ::rmdir(folder.c_str());
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const package_link link;
  if (size < 4) return 0;
  const std::size_t wanted = data[0] | unsigned{data[1]} << 8U | unsigned{data[2]} << 16U;
  const std::size_t program = std::min(wanted, size - 4);
  const int package = file_of(data + 4 + program, size - 4 - program);
  if (::dup3(package, package_link::descriptor, 0) < 0) std::abort();
  ::close(package);
  auto file = elf::input_file::adopt(file_of(data + 4, program), link.folder + "/program");
  if (!file) std::abort();
  auto opened = elf::image::open(std::move(*file));
  if (!opened) return 0;
  const auto shared = std::make_shared<elf::image>(std::move(*opened));
  std::vector<error> problems;
  const debug_file_search nowhere{{}, false};
  elf::code_names names{shared, "program", {}};
  std::vector<std::uint64_t> addresses = {0, shared->header().entry};
  if (const auto sections = shared->sections()) {
    for (const elf::section& s : *sections) {
      constexpr std::uint64_t is_code = 4;
      if ((s.flags & is_code) == 0 || addresses.size() > 60) continue;
      for (std::uint64_t i = 0; i < 8; ++i) addresses.push_back(s.address + s.size / 8 * i + i);
    }
  }
  for (const std::uint64_t address : addresses) {
    if (names.describe(address, nowhere, problems).empty()) std::abort();
  }
  elf::file_types types{shared, "program", {}};
  for (const char* name : {"struct pair", "long", "nothing"}) {
    const auto found = types.find(name, source_language::c, false, nowhere, problems);
    if (!found) continue;
    for (const structure_member& m : found->members) {
      if (m.offset > found->size || m.size > found->size - m.offset) std::abort();
    }
  }
  return 0;
}

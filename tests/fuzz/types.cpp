// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of types: its sections, relocations and DWARF, asked for types by name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "mpiacq/process/process_types.hpp"

using namespace mpiacq;

namespace {

/// The input as a file that a path leads to; memory only.
class input_as_file {
 public:
  input_as_file(const std::uint8_t* data, std::size_t size) : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {
    if (descriptor_ < 0 || ::write(descriptor_, data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~input_as_file() { ::close(descriptor_); }
  input_as_file(const input_as_file&) = delete;
  input_as_file& operator=(const input_as_file&) = delete;
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

void check(const structure_layout& layout) {
  for (const structure_member& m : layout.members) {
    if (m.offset > layout.size || m.size > layout.size - m.offset) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const input_as_file input{data, size};
  auto types = type_file::open(input.path(), {{}, false});
  if (!types) {
    if (types.error().message.empty()) std::abort();
    return 0;
  }
  for (const char* name : {"tagged", "struct tagged", "tagged_t", "pointer_t", "colour", "union tagged", "declared",
                           "scope::inner", "none", "int"}) {
    for (const auto language : {source_language::c, source_language::fortran}) {
      const auto found = (*types)->type_named(name, language);
      if (!found) std::abort();  // what is broken is a problem, and the type is not known
      if (*found) check(**found);
      // The same question has the same answer.
      const auto again = (*types)->type_named(name, language);
      if (!again || again->has_value() != found->has_value()) std::abort();
    }
  }
  return 0;
}

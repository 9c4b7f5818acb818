// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of types: its sections, relocations and DWARF, asked for types by name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "input_as_file.hpp"
#include "mpiacq/process/process_types.hpp"

using namespace mpiacq;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::input_as_file input{data, size};
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
      if (*found) fuzz::check_members(**found);
      // The same question has the same answer.
      const auto again = (*types)->type_named(name, language);
      if (!again || again->has_value() != found->has_value()) std::abort();
    }
  }
  return 0;
}

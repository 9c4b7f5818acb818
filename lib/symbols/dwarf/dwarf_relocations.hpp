// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <libelf.h>

#include "mpiacq/base/abi.hpp"

namespace mpiacq::debug_info {

/// Puts the relocations of an object file's debug sections into effect, in libelf's copy of them: before a linker has
/// been there, one section's references to another are zeros, and names all alike. libdw alone does not do this, and
/// libdwfl, which does, maps the file. `elf` is opened with ELF_C_READ, and libdw has not seen it yet; its sections
/// stay decompressed. What makes no sense (of another kind, past the section's end) is left as it was: whoever reads
/// the sections takes them for hostile anyway.
void relocate_debug_sections(Elf* elf, byte_order order);

}  // namespace mpiacq::debug_info

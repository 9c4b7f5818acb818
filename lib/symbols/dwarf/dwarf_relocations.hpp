// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <libelf.h>

#include "mpiacq/base/abi.hpp"

namespace mpiacq::debug_info {

/// Applies the relocations of an object file's debug sections to libelf's copy of the sections. Before the link,
/// references from one section to another are zeros. libdw alone does not apply them, and libdwfl, which does, maps the
/// file. `elf` is opened with ELF_C_READ, before libdw uses it; its sections stay decompressed. Invalid relocations (of
/// another kind, past the section's end) are skipped: readers of the sections treat them as hostile anyway.
void relocate_debug_sections(Elf* elf, byte_order order);

}  // namespace mpiacq::debug_info

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Whether the archives that an agent would be made of can be linked: something of each, and of {fmt} what rooms call.
#include <array>

#include <capstone/capstone.h>
#include <dlfcn.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <libunwind.h>
#include <zmq.h>

namespace {

/// The parts of libdw and libelf that rooms call: some need archives that a distribution does not have (libeu, from
/// elfutils 0.191 on).
const std::array<const void*, 6> parts = {
    reinterpret_cast<const void*>(&dwarf_begin_elf), reinterpret_cast<const void*>(&dwarf_getsrclines),
    reinterpret_cast<const void*>(&dwarf_offdie),    reinterpret_cast<const void*>(&dwarf_attr_integrate),
    reinterpret_cast<const void*>(&dwarf_getalt),    reinterpret_cast<const void*>(&elf_compress)};

}  // namespace

int main(int count, char** words) {
  void* context = zmq_ctx_new();
  unw_accessors_t accessors = {};
  unw_cursor_t cursor;
  unw_addr_space_t space = unw_create_addr_space(&accessors, 0);
  const bool stepped = unw_init_remote(&cursor, space, nullptr) == 0 && unw_step(&cursor) > 0;
  csh decoder = 0;
  if (cs_open(CS_ARCH_X86, CS_MODE_64, &decoder) != CS_ERR_OK) return 1;
  Dwfl* dwfl = dwfl_begin(nullptr);
  const std::string said = fmt::format("{} {:x} {:.2f}", words[0], count, static_cast<double>(count));
  if (parts[static_cast<std::size_t>(count) % parts.size()] == nullptr) return 1;
  return context == nullptr || stepped || dwfl == nullptr || dlsym(nullptr, said.c_str()) != nullptr;
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Whether the archives that an agent would be made of can be linked: something of each, and of {fmt} what rooms call.
#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <libunwind.h>
#include <zmq.h>

int main(int count, char** words) {
  void* context = zmq_ctx_new();
  unw_accessors_t accessors = {};
  unw_cursor_t cursor;
  unw_addr_space_t space = unw_create_addr_space(&accessors, 0);
  const bool stepped = unw_init_remote(&cursor, space, nullptr) == 0 && unw_step(&cursor) > 0;
  Dwfl* dwfl = dwfl_begin(nullptr);
  const std::string said = fmt::format("{} {:x} {:.2f}", words[0], count, static_cast<double>(count));
  return context == nullptr || stepped || dwfl == nullptr || dlsym(nullptr, said.c_str()) != nullptr;
}

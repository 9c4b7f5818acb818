// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Any bytes as a file whose code is asked for its names and calls: symbol tables, stubs, units, functions, inlined
// calls, lines, descriptions of calls, places of parameters.
#include "code_names/code_names.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "code_names/code_mappings.hpp"
#include "dwarf/dwarf_call_sites.hpp"
#include "dwarf/dwarf_parameters.hpp"

using namespace mpiacq;

namespace {

/// Addresses at which there may be something: around the entry point and in all sections of code.
std::vector<std::uint64_t> addresses_in(elf::image& file) {
  std::vector<std::uint64_t> addresses = {0, file.header().entry, file.header().entry + 1, UINT64_MAX};
  const auto sections = file.sections();
  if (!sections) return addresses;
  for (const elf::section& s : *sections) {
    constexpr std::uint64_t is_code = 4;
    if ((s.flags & is_code) == 0 || addresses.size() > 60) continue;
    for (std::uint64_t i = 0; i < 8; ++i) addresses.push_back(s.address + s.size / 8 * i + i);
  }
  return addresses;
}

/// Asks for the calls that may return to each address from `begin` on, and for the parameters of the functions there.
void describe_calls(elf::code_names& names, std::uint64_t begin) {
  constexpr std::uint64_t bytes = 64;
  std::vector<error> problems;
  for (std::uint64_t address = begin; address - begin < bytes; ++address) {
    const auto call = names.call_before(address, {{}, false}, problems);
    const auto places = names.parameters_around(address, {{}, false}, problems);
    if (places && places->parameters.size() > debug_info::most_parameters) std::abort();
    for (const auto& one : places.value_or(parameter_places{}).parameters) {
      if (one.bytes != 1 && one.bytes != 2 && one.bytes != 4 && one.bytes != 8) std::abort();
    }
    if (!call) continue;
    if (call->parameters.size() > debug_info::most_site_parameters) std::abort();
    for (const call_description::parameter& one : call->parameters) {
      if (one.place.empty() || one.value.empty()) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static_cast<void>(elf::decode_mappings({reinterpret_cast<const char*>(data), size}));
  const int descriptor = ::memfd_create("input", MFD_CLOEXEC);
  if (descriptor < 0 || ::write(descriptor, data, size) != static_cast<ssize_t>(size)) std::abort();
  auto file = elf::input_file::adopt(descriptor, "input");
  if (!file) std::abort();
  auto opened = elf::image::open(std::move(*file));
  if (!opened) return opened.error().message.empty() ? std::abort(), 0 : 0;
  const auto shared = std::make_shared<elf::image>(std::move(*opened));
  const auto addresses = addresses_in(*shared);
  elf::code_names names{shared, "input", {}};
  std::vector<error> problems;
  for (const std::uint64_t address : addresses) {
    static_cast<void>(names.link_address(address));
    describe_calls(names, address);
    const auto places = names.describe(address, {{}, false}, problems);
    if (places.empty()) std::abort();
    for (const code_place& p : places) {
      if (p.offset.value() != 0 || p.line > INT32_MAX) std::abort();
    }
  }
  return 0;
}

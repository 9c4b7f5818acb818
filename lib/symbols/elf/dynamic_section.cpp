// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "elf/dynamic_section.hpp"

#include <algorithm>
#include <array>

#include <elf.h>
#include <fmt/format.h>

#include "elf/elf_records.hpp"
#include "errors/try.hpp"

namespace mpiacq::elf {

namespace {

/// Dynamic sections have some thirty entries, and one more for each needed library.
constexpr std::size_t max_entries = 16384;
constexpr std::size_t max_string = 4096;

/// A value can be a link-time or a relocated address. The address nearer to the dynamic section is the right one,
/// because a module is small compared to the distance between its link-time and run-time addresses.
target_address settle(std::uint64_t value, target_address bias, target_address section) {
  const target_address as_is{value};
  const target_address moved = bias + value;
  const auto distance = [&](target_address a) { return a > section ? a - section : section - a; };
  return distance(moved) < distance(as_is) ? moved : as_is;
}

class section_builder {
 public:
  section_builder(target_address bias, target_address section) : bias_(bias), section_(section) {}

  /// False at the end of the section.
  bool add(const dynamic_entry& e) {
    switch (e.tag) {
      case DT_NULL:
        return false;
      case DT_GNU_HASH:
        built.gnu_hash = settle(e.value, bias_, section_);
        break;
      case DT_HASH:
        built.hash = settle(e.value, bias_, section_);
        break;
      case DT_SYMTAB:
        built.symbols = settle(e.value, bias_, section_);
        break;
      case DT_STRTAB:
        built.strings = settle(e.value, bias_, section_);
        break;
      case DT_STRSZ:
        built.strings_size = e.value;
        break;
      case DT_SYMENT:
        built.symbol_size = e.value;
        break;
      case DT_DEBUG:
        built.debug = target_address{e.value};
        break;
      case DT_NEEDED:
        built.needed.push_back(e.value);
        break;
      case DT_SONAME:
        built.soname = e.value;
        break;
      case DT_RPATH:
        built.rpath = e.value;
        break;
      case DT_RUNPATH:
        built.runpath = e.value;
        break;
      default:
        break;
    }
    return true;
  }

  dynamic_section built;

 private:
  target_address bias_;
  target_address section_;
};

}  // namespace

bool concerns_whole_target(const error& e) {
  return e.code == error_code::process_gone || e.code == error_code::permission || e.code == error_code::system;
}

result<dynamic_section> read_dynamic_section(memory_reader& memory, const target_abi& abi, target_address bias,
                                             target_address address) {
  const std::size_t entry_size = dynamic_entry_size(abi);
  std::array<std::byte, 1024> piece{};
  section_builder builder{bias, address};
  target_address next = address;
  for (std::size_t seen = 0; seen < max_entries;) {
    memory_range range{next, piece};
    TRY(memory.read_ranges({&range, 1}));
    const std::size_t whole = range.got / entry_size;
    for (std::size_t i = 0; i < whole; ++i) {
      const auto entry = decode_dynamic(std::span{piece}.subspan(i * entry_size, entry_size), abi);
      if (!builder.add(entry)) return std::move(builder.built);
    }
    if (range.got < piece.size()) {
      return fail(error{error_code::unreadable_memory,
                        fmt::format("the dynamic section at {:#x} reaches {:#x}, which cannot be read", address.value(),
                                    (next + range.got).value())}
                      .at(next + range.got));
    }
    seen += whole;
    next = next + whole * entry_size;
  }
  return fail(error{error_code::bad_format, fmt::format("the dynamic section at {:#x} has no end within {} entries",
                                                        address.value(), max_entries)}
                  .at(address));
}

result<std::string> read_dynamic_string(memory_reader& memory, const dynamic_section& of, std::uint64_t offset) {
  if (!of.strings || offset >= of.strings_size) {
    return fail(
        error_code::bad_format,
        fmt::format("the dynamic section names a string at {:#x} of a table of {:#x} bytes", offset, of.strings_size));
  }
  const std::uint64_t room = of.strings_size - offset;
  return read_c_string(memory, *of.strings + offset,
                       static_cast<std::size_t>(std::min<std::uint64_t>(room, max_string)));
}

}  // namespace mpiacq::elf

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Where variables are, as our reader of location lists finds it. The oracle is libdw's own reader of the same entries.
#include "dwarf/dwarf_locations.hpp"

#include <optional>
#include <string>
#include <vector>

#include <dwarf.h>

#include "code_oracle.hpp"
#include "dwarf/dwarf_data.hpp"
#include "run_command.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// A program of fixtures/code; empty if this compiler cannot make it.
std::optional<std::string> compiled(const scratch_folder& folder, const std::string& compiler,
                                    const std::string& flags) {
  const std::string here = MPIACQ_CODE_SOURCES;
  const std::string path = folder.path("program");
  const auto run = run_command({"sh", "-c",
                                compiler + " " + flags + " -O2 -o " + path + " " + here + "/inlined.c " + here +
                                    "/same_names.c " + here + "/here.c"});
  if (run.exit_code != 0) return std::nullopt;
  return path;
}

struct counts {
  std::size_t compared = 0;
  std::size_t in_lists = 0;  ///< of those, with a list instead of one expression
  std::size_t found = 0;
  std::vector<std::string> differences;
};

/// Whether these are the bytes of the operations.
bool is_same(std::span<const std::byte> bytes, const Dwarf_Op* operations, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const Dwarf_Op& one = operations[i];
    if (one.offset >= bytes.size() || std::to_integer<unsigned>(bytes[one.offset]) != one.atom) return false;
  }
  return bytes.empty() == (count == 0);
}

void compare_at(const debug_info::location_reader& reader, Dwarf_Attribute& attribute, std::uint64_t address,
                counts& into) {
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  const int places = dwarf_getlocation_addr(&attribute, address, &operations, &count, 1);
  if (places < 0) return;
  const auto ours = reader.at(attribute, address);
  REQUIRE(ours);
  ++into.compared;
  into.found += ours->empty() ? 0U : 1U;
  Dwarf_Block block{};
  into.in_lists += dwarf_formblock(&attribute, &block) != 0 ? 1U : 0U;
  if (is_same(*ours, operations, places == 0 ? 0 : count)) return;
  into.differences.push_back("the variable at " + std::to_string(address));
}

/// All variables and parameters of a function, at each address of its code.
void compare_in(const debug_info::dwarf_data& data, Dwarf_Die function, std::uint64_t begin, std::uint64_t end,
                counts& into) {
  const debug_info::location_reader reader(data, function);
  Dwarf_Die entry;
  if (dwarf_child(&function, &entry) != 0) return;
  do {
    Dwarf_Attribute attribute;
    if (dwarf_attr(&entry, DW_AT_location, &attribute) != nullptr) {
      for (std::uint64_t address = begin; address <= end; ++address) compare_at(reader, attribute, address, into);
    }
    compare_in(data, entry, begin, end, into);
  } while (dwarf_siblingof(&entry, &entry) == 0);
}

counts compare(const std::string& path) {
  const auto image = open_image(path);
  const auto data = debug_info::dwarf_data::open(*image, {{}, false}, {}, debug_info::with_locations::yes);
  REQUIRE(data);
  REQUIRE(*data);
  counts all;
  const auto visited = (*data)->visit_units([&](Dwarf_Die& unit) -> result<bool> {
    Dwarf_Die entry;
    if (dwarf_child(&unit, &entry) != 0) return false;
    do {
      Dwarf_Addr begin = 0, end = 0;
      if (dwarf_tag(&entry) != DW_TAG_subprogram || dwarf_lowpc(&entry, &begin) != 0) continue;
      if (dwarf_highpc(&entry, &end) == 0) compare_in(**data, entry, begin, end, all);
    } while (dwarf_siblingof(&entry, &entry) == 0);
    return false;
  });
  REQUIRE(visited);
  return all;
}

/// Compares a program made by this compiler with these options; skips without the compiler.
void check_program(const std::string& compiler, const std::string& flags) {
  INFO(compiler << " " << flags);
  if (!is_installed(compiler)) MPIACQ_SKIP(compiler + " is not installed");
  const scratch_folder folder;
  const auto program = compiled(folder, compiler, flags);
  if (!program) MPIACQ_SKIP(compiler + " makes no program with " + flags);
  const counts all = compare(*program);
  CAPTURE(all.differences.size(), all.compared, all.in_lists, all.found);
  if (!all.differences.empty()) FAIL_CHECK(all.differences.front());
  CHECK(all.in_lists > 100);
  CHECK(all.found > 20);
}

constexpr const char* gcc = "gcc";
constexpr const char* clang = "clang";

}  // namespace

TEST_CASE("the places of variables in gcc's programs are those that libdw finds, in both forms of lists") {
  check_program(gcc, GENERATE("-g -gdwarf-5", "-g -gdwarf-4", "-g -gdwarf-3 -gstrict-dwarf"));
}

TEST_CASE("the places of variables in clang's programs are those that libdw finds, in both forms of lists") {
  check_program(clang, GENERATE("-g -gdwarf-5", "-g -gdwarf-4", "-g -gdwarf-3 -gstrict-dwarf"));
}

TEST_CASE("the places of variables in programs of 32 bits are those that libdw finds, in both forms of lists") {
  check_program(gcc, GENERATE("-g -gdwarf-5 -m32", "-g -gdwarf-4 -m32"));
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The descriptions of calls in the fixtures' debug information, compared with what binutils' readelf lists.
#include <cstdint>
#include <iomanip>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "code_names/code_names.hpp"
#include "code_oracle.hpp"
#include "run_command.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// The bytes of a parameter's place and value, in hexadecimal.
using listed_parameter = std::pair<std::string, std::string>;

struct listed_call {
  std::vector<listed_parameter> parameters;
  int times = 0;  ///< that the file describes a call with this return address
};

/// "    <1b0>   DW_AT_location    : 1 byte block: 55 \t(DW_OP_reg5 (rdi))" has the bytes "55".
std::string bytes_in(const std::string& line) {
  const auto at = line.find(" byte block: ");
  if (at == std::string::npos) return {};
  std::istringstream words{line.substr(at + 13, line.find('\t', at) - at - 13)};
  std::string bytes;
  for (std::string one; words >> one;) bytes += (one.size() == 1 ? "0" : "") + one;
  return bytes;
}

std::uint64_t address_in(const std::string& line) {
  return std::stoull(line.substr(line.rfind("0x")), nullptr, 16);
}

bool has(const std::string& line, std::string_view what) {
  return line.find(what) != std::string::npos;
}

/// What readelf says of the calls in a file, by return address.
std::map<std::uint64_t, listed_call> calls_by_readelf(const std::string& file) {
  std::istringstream lines{run_command({"readelf", "--wide", "--debug-dump=info", file}).out};
  std::map<std::uint64_t, listed_call> calls;
  listed_call* call = nullptr;
  bool in_site = false;
  bool in_parameter = false;
  for (std::string line; std::getline(lines, line);) {
    if (has(line, "Abbrev Number")) {
      in_parameter = has(line, "call_site_parameter)");
      in_site = has(line, "call_site)");
      if (!in_parameter) call = nullptr;
      if (in_parameter && call != nullptr) call->parameters.emplace_back();
    } else if (in_site && (has(line, "DW_AT_call_return_pc") || has(line, "DW_AT_low_pc"))) {
      call = &calls[address_in(line)];
      ++call->times;
    } else if (in_parameter && call != nullptr) {
      if (has(line, "DW_AT_location")) call->parameters.back().first = bytes_in(line);
      if (has(line, "DW_AT_call_value") || has(line, "DW_AT_GNU_call_site_value")) {
        call->parameters.back().second = bytes_in(line);
      }
    }
  }
  // A parameter that the compiler has removed (DW_AT_call_parameter) has no place: nothing passes it.
  for (auto& [address, one] : calls) {
    std::erase_if(one.parameters, [](const listed_parameter& of) { return of.first.empty(); });
  }
  return calls;
}

std::string hexadecimal(const std::vector<std::byte>& bytes) {
  std::ostringstream text;
  for (const std::byte one : bytes) text << std::hex << std::setw(2) << std::setfill('0') << static_cast<int>(one);
  return text.str();
}

std::vector<listed_parameter> as_listed(const call_description& call) {
  std::vector<listed_parameter> all;
  for (const call_description::parameter& one : call.parameters) {
    all.emplace_back(hexadecimal(one.place), hexadecimal(one.value));
  }
  return all;
}

}  // namespace

TEST_CASE("the described calls of the fixtures are those that readelf lists") {
  std::vector<std::string> fixtures = {"inlined", "inlined_dwarf4", "inlined_non_pie", "inlined_compressed",
                                       "sections"};
#ifdef MPIACQ_HAVE_CLANG_CODE
  fixtures.emplace_back("clang_inlined");
#endif
  for (const std::string& name : fixtures) {
    const std::string path = code_fixture(name);
    elf::code_names names{open_image(path), path, {}};
    std::vector<error> problems;
    std::size_t parameters = 0;
    const auto listed = calls_by_readelf(path);
    for (const auto& [address, call] : listed) {
      CAPTURE(name, address);
      const auto found = names.call_before(address, {{}, false}, problems);
      REQUIRE(found.has_value() == (call.times == 1));
      if (!found) continue;
      CHECK(as_listed(*found) == call.parameters);
      CHECK_FALSE(found->frame_base.empty());
      CHECK(found->by_gcc == !name.starts_with("clang"));
      parameters += found->parameters.size();
      CHECK_FALSE(listed.contains(address + 1));
      CHECK_FALSE(names.call_before(address + 1, {{}, false}, problems).has_value());
    }
    CAPTURE(name);
    CHECK(problems.empty());
    CHECK(parameters > 0);
  }
}

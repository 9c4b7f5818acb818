// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The answers of binutils and LLVM about a program's addresses, and their comparison with ours.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "code_names/code_names.hpp"
#include "code_names/function_name.hpp"
#include "code_program.hpp"
#include "run_command.hpp"

namespace mpiacq::test {

struct symbol_line {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::string name;
};

/// The functions of a file that have a size, by nm.
inline std::vector<symbol_line> functions_by_nm(const std::string& file, bool dynamic) {
  std::vector<std::string> command = {"nm", "-S", "--defined-only", file};
  if (dynamic) command.insert(command.begin() + 1, "-D");
  std::istringstream lines{run_command(command).out};
  std::vector<symbol_line> found;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    symbol_line s;
    std::string kind;
    words >> std::hex >> s.address >> s.size >> kind >> s.name;
    if (words && std::string{"tTwWi"}.find(kind) != std::string::npos) found.push_back(s);
  }
  return found;
}

struct oracle_place {
  std::string function;
  std::string file;
  std::uint32_t line = 0;
};

inline std::string in_hexadecimal(std::uint64_t number) {
  std::ostringstream text;
  text << std::hex << number;
  return text.str();
}

/// "file:12", "file:12:3", "file:12 (discriminator 2)", "??:0", "file:?".
inline void take_line(oracle_place& place, std::string text, bool has_column) {
  text = text.substr(0, text.find(" (discriminator"));
  if (has_column) text = text.substr(0, text.rfind(':'));
  const auto colon = text.rfind(':');
  place.file = text.substr(0, colon);
  if (text[colon + 1] != '?') place.line = static_cast<std::uint32_t>(std::stoul(text.substr(colon + 1)));
  if (place.line == 0) place.file.clear();
}

using oracle_answers = std::vector<std::vector<oracle_place>>;

/// `addr2line -Cfia`: an address, then a function and a line each.
inline oracle_answers by_addr2line(const std::string& file, const std::vector<std::uint64_t>& addresses) {
  std::vector<std::string> command = {"addr2line", "-Cfia", "-e", file};
  for (const std::uint64_t a : addresses) command.push_back(in_hexadecimal(a));
  std::istringstream lines{run_command(command).out};
  oracle_answers found;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0x")) {
      found.emplace_back();
      continue;
    }
    oracle_place place{line == "??" ? "" : line.substr(0, line.find(" [clone ")), {}, 0};
    std::getline(lines, line);
    take_line(place, line, false);
    found.back().push_back(place);
  }
  return found;
}

/// The answers of `llvm-symbolizer`, with an empty line after each address. Empty if it is not installed.
inline oracle_answers by_llvm_symbolizer(const std::string& file, const std::vector<std::uint64_t>& addresses) {
  for (const char* program : {"llvm-symbolizer", "llvm-symbolizer-14"}) {
    std::vector<std::string> command = {program, "--no-demangle", "--obj=" + file};
    for (const std::uint64_t a : addresses) command.push_back("0x" + in_hexadecimal(a));
    const auto outcome = run_command(command);
    if (outcome.out.empty()) continue;
    std::istringstream lines{outcome.out};
    oracle_answers found(1);
    for (std::string line; std::getline(lines, line);) {
      if (line.empty()) {
        found.emplace_back();
        continue;
      }
      oracle_place place{line == "??" ? "" : line, {}, 0};
      std::getline(lines, line);
      take_line(place, line, true);
      found.back().push_back(place);
    }
    if (found.back().empty()) found.pop_back();
    return found;
  }
  return {};
}

inline std::shared_ptr<elf::image> open_image(const std::string& path) {
  auto file = elf::input_file::open(path);
  REQUIRE(file.has_value());
  auto opened = elf::image::open(std::move(*file));
  REQUIRE(opened.has_value());
  return std::make_shared<elf::image>(std::move(*opened));
}

/// Removes the parameters: addr2line shows none if there is no linkage name.
inline std::string plain(const std::string& name) {
  return debug_info::function_of_symbol(name);
}

/// Whether our name ends with theirs, as a qualified name ends with its last part.
inline bool is_qualified(const std::string& ours, const std::string& theirs) {
  return ours == theirs || (ours.size() > theirs.size() + 2 && ours.ends_with("::" + theirs));
}

inline bool agrees(const std::vector<code_place>& ours, const std::vector<oracle_place>& theirs) {
  if (ours.size() != theirs.size()) return false;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (!is_qualified(ours[i].function, plain(theirs[i].function)) || ours[i].line != theirs[i].line) return false;
    if (std::filesystem::path(ours[i].file).filename() != std::filesystem::path(theirs[i].file).filename())
      return false;
  }
  return true;
}

template <class Places>
std::string text_of_places(const Places& places) {
  std::ostringstream text;
  for (const auto& p : places) text << " [" << p.function << ' ' << p.file << ':' << p.line << ']';
  return text.str();
}

struct tally {
  std::size_t compared = 0;
  std::size_t agreed = 0;
  std::string first_difference;
};

/// At most `most` addresses, evenly distributed over the code of all functions.
inline std::vector<std::uint64_t> samples(const std::vector<symbol_line>& functions, std::size_t most) {
  std::set<std::uint64_t> all;
  for (const symbol_line& f : functions) {
    for (std::uint64_t at = 0; at < f.size; at += 3) all.insert(f.address + at);
  }
  const std::vector<std::uint64_t> sorted{all.begin(), all.end()};
  std::vector<std::uint64_t> taken;
  const std::size_t step = std::max<std::size_t>(1, sorted.size() / most);
  for (std::size_t i = 0; i < sorted.size(); i += step) taken.push_back(sorted[i]);
  return taken;
}

/// Neither tool is complete (addr2line 2.40 misses inlined calls of clang), so one agreeing answer is enough. `asked`:
/// another file with the same code for the tools, if it is not `path`.
inline tally hold_against_both(const std::string& path, const std::vector<symbol_line>& functions, std::size_t most,
                               const std::string& asked = {}) {
  elf::code_names names{open_image(path), path, {}};
  const auto addresses = samples(functions, most);
  const auto binutils = by_addr2line(asked.empty() ? path : asked, addresses);
  auto llvm = by_llvm_symbolizer(asked.empty() ? path : asked, addresses);
  REQUIRE(binutils.size() == addresses.size());
  if (llvm.empty()) llvm.resize(addresses.size());
  REQUIRE(llvm.size() == addresses.size());
  tally t;
  std::vector<error> problems;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto ours = names.describe(addresses[i], {{}, false}, problems);
    ++t.compared;
    if (agrees(ours, binutils[i]) || agrees(ours, llvm[i])) {
      ++t.agreed;
    } else if (t.first_difference.empty()) {
      t.first_difference = in_hexadecimal(addresses[i]) + " ours:" + text_of_places(ours) +
                           " addr2line:" + text_of_places(binutils[i]) + " llvm:" + text_of_places(llvm[i]);
    }
  }
  CHECK(text_of(problems).empty());
  return t;
}

}  // namespace mpiacq::test

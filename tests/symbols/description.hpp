// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The output of a module fixture about itself, and its comparison with our results.
#pragma once

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "catch.hpp"
#include "mpiacq/process/process_symbols.hpp"

namespace mpiacq::test {

inline std::string fixture(const std::string& name) {
  return std::string{MPIACQ_MODULE_FIXTURES} + "/" + name;
}

/// Debug files are searched for among the fixtures, and no server is asked.
inline debug_file_search fixture_search() {
  return {{fixture("debug")}, false};
}

struct described_symbol {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};

struct description {
  std::map<std::string, described_symbol> symbols;
  std::map<std::string, described_symbol> local_symbols;
  structure_layout layout;

  explicit description(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      std::istringstream words{line};
      std::string what;
      std::string name;
      words >> what;
      if (what == "structure") {
        words >> layout.size;
        continue;
      }
      words >> name;
      if (what == "member") {
        structure_member m{name, 0, 0, false, false};
        words >> m.offset >> m.size >> m.is_pointer >> m.is_signed;
        layout.members.push_back(m);
      } else {
        described_symbol s;
        words >> std::hex >> s.address >> std::dec >> s.size;
        (what == "local" ? local_symbols : symbols)[name] = s;
      }
    }
  }
};

inline std::vector<std::optional<symbol>> look_up(symbol_source& source,
                                                  const std::map<std::string, described_symbol>& wanted) {
  std::vector<std::string_view> names;
  for (const auto& entry : wanted) names.push_back(entry.first);
  auto found = source.find_symbols(names);
  REQUIRE(found.has_value());
  return std::move(*found);
}

/// Every symbol is at the address that the program prints.
inline void check_symbols(symbol_source& source, const std::map<std::string, described_symbol>& wanted) {
  REQUIRE_FALSE(wanted.empty());
  const auto found = look_up(source, wanted);
  std::size_t i = 0;
  for (const auto& [name, expected] : wanted) {
    INFO(name);
    REQUIRE(found[i].has_value());
    CHECK(found[i]->address().value() == expected.address);
    if (expected.size != 0) {
      CHECK(found[i]->size == expected.size);
      CHECK(found[i]->kind == symbol_kind::data);
    } else {
      CHECK(found[i]->kind == symbol_kind::function);
    }
    ++i;
  }
}

inline void check_layout(const structure_layout& read, const structure_layout& told) {
  CHECK(read.size == told.size);
  CHECK(read.members.size() == told.members.size());
  for (const structure_member& expected : told.members) {
    INFO(expected.name);
    const structure_member* m = read.find(expected.name);
    REQUIRE(m != nullptr);
    CHECK(m->offset == expected.offset);
    CHECK(m->size == expected.size);
    CHECK(m->is_pointer == expected.is_pointer);
    CHECK(m->is_signed == expected.is_signed);
  }
}

inline std::optional<structure_layout> layout_of_table(symbol_source& source) {
  const auto table = source.find_symbol("MPIR_proctable");
  REQUIRE((table && *table));
  const auto near = source.find_symbol("MPIR_Breakpoint");
  auto layout = source.layout_pointed_to_by(**table, near && *near ? &**near : nullptr);
  if (!layout) FAIL(layout.error().message);
  return std::move(*layout);
}

/// All symbols and the structure of the table are as the program prints them.
inline void check_all(symbol_source& source, const description& told) {
  check_symbols(source, told.symbols);
  check_symbols(source, told.local_symbols);
  const auto layout = layout_of_table(source);
  REQUIRE(layout.has_value());
  check_layout(*layout, told.layout);
}

/// A folder of the test, removed at its end.
class own_folder {
 public:
  own_folder() {
    std::string name = std::filesystem::temp_directory_path() / "mpiacq-symbols-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~own_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  own_folder(const own_folder&) = delete;
  own_folder& operator=(const own_folder&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace mpiacq::test

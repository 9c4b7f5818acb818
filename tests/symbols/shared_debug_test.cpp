// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Debug information whose common part is in a shared file: dwz's .gnu_debugaltlink and DWARF 5's .debug_sup.
#include <filesystem>
#include <fstream>

#include "catch.hpp"
#include "description.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "run_command.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

#ifdef MPIACQ_HAVE_DWZ_FIXTURE
namespace {

struct shared_fixture {
  const char* program;
  const char* common;
  const char* section;  ///< the section that names the common file
};
constexpr shared_fixture fixtures[] = {{"dwz_built", "dwz_common.debug", ".gnu_debugaltlink"},
                                       {"dwz_dwarf5", "dwz_dwarf5_common.debug", ".gnu_debugaltlink"},
                                       {"dwz_sup", "dwz_sup_common.debug", ".debug_sup"}};

result<std::optional<structure_layout>> layout_of(const std::string& program) {
  auto symbols = file_symbols::open(program, {{}, false});
  REQUIRE(symbols.has_value());
  const auto table = (*symbols)->find_symbol("MPIR_proctable");
  REQUIRE((table && *table));
  return (*symbols)->layout_pointed_to_by(**table, nullptr);
}

}  // namespace
#endif

TEST_CASE("the shared part of a debug file is read from the file that it names, if the id matches") {
#ifdef MPIACQ_HAVE_DWZ_FIXTURE
  for (const shared_fixture& f : fixtures) {
    INFO(f.program);
    // A check of the fixture: readelf shows the section, and the program's own strings do not contain the name.
    REQUIRE_THAT(run_command({"readelf", "-SW", fixture(f.program)}).out, ContainsSubstring(f.section));
    own_folder folder;
    std::filesystem::copy_file(fixture(f.program), folder / "program");

    const auto alone = layout_of(folder / "program");
    REQUIRE_FALSE(alone.has_value());
    CHECK(alone.error().code == error_code::not_found);
    CHECK_THAT(alone.error().message, ContainsSubstring(f.common));

    std::filesystem::copy_file(fixture(f.common), folder / f.common);
    const auto layout = layout_of(folder / "program");
    REQUIRE((layout && *layout));
    CHECK((*layout)->size == 24);
    CHECK((*layout)->find("executable_name") != nullptr);

    // A file of that name that belongs to another program is not used. Each kind serves as the wrong file for the
    // other.
    const bool is_sup = std::string{f.section} == ".debug_sup";
    std::filesystem::copy_file(fixture(is_sup ? "dwz_common.debug" : "dwz_sup_common.debug"), folder / f.common,
                               std::filesystem::copy_options::overwrite_existing);
    const auto wrong = layout_of(folder / "program");
    REQUIRE_FALSE(wrong.has_value());
    CHECK(wrong.error().code == error_code::not_found);
  }
#else
  MPIACQ_SKIP("dwz is not installed");
#endif
}

TEST_CASE("a supplementary file with another checksum is not used") {
#ifdef MPIACQ_HAVE_DWZ_FIXTURE
  own_folder folder;
  std::filesystem::copy_file(fixture("dwz_sup"), folder / "program");
  const auto dump = run_command({"readelf", "-x", ".debug_sup", fixture("dwz_sup_common.debug")}).out;
  REQUIRE_FALSE(dump.empty());
  std::ifstream in{fixture("dwz_sup_common.debug"), std::ios::binary};
  std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  // The section: version 5, the flag, an empty name, 20 bytes of checksum.
  const std::string head{"\x05\x00\x01\x00\x14", 5};
  const auto at = bytes.find(head);
  REQUIRE(at != std::string::npos);
  bytes[at + head.size()] = static_cast<char>(bytes[at + head.size()] ^ 1);
  std::ofstream{folder / "dwz_sup_common.debug", std::ios::binary} << bytes;
  const auto layout = layout_of(folder / "program");
  REQUIRE_FALSE(layout.has_value());
  CHECK_THAT(layout.error().message, ContainsSubstring("is missing or has another build id or checksum"));
#else
  MPIACQ_SKIP("dwz is not installed");
#endif
}

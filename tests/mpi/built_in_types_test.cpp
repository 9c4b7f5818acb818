// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The built-in types, compared with the types that the compiler makes from the distribution's headers, and with
// processes that confirm or contradict them.
#include <fstream>
#include <map>

#include "fake_openmpi.hpp"
#include "live_process.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/process_types.hpp"
#include "types/layouts.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

carriers::release_layouts layouts_of(const std::string& series) {
  for (const std::string_view text : carriers::built_in_layouts()) {
    auto parsed = carriers::parse_layouts(text);
    if (!parsed) FAIL(parsed.error().message);
    if (parsed->version.starts_with(series + ".")) return std::move(*parsed);
  }
  FAIL("no layouts of " << series);
  return {};
}

std::uint64_t offset_in(const carriers::release_layouts& layouts, std::string_view type, std::string_view member) {
  for (const structure_layout& one : layouts.types) {
    if (one.name == type && one.find(member) != nullptr) return one.find(member)->offset;
  }
  FAIL("no " << type << "::" << member);
  return 0;
}

/// A program with the objects that show the sizes of Open MPI's types. The test chooses the sizes.
class sized_process {
 public:
  sized_process(const std::string& version, const std::map<std::string, std::uint64_t>& sizes) {
    const auto layouts = layouts_of("4.1");
    const auto at = offset_in(layouts, "opal_class_t", "cls_sizeof");
    std::ofstream source(folder_.path("sized.c"));
    source << "#include <stdio.h>\n#include <unistd.h>\n"
           << "struct class { char before[" << at << "]; unsigned long size; char after[" << 64 - at - 8 << "]; };\n"
           << "const char ompi_version_string[] = \"" << version << "\";\n";
    for (const auto& [type, size] : sizes)
      source << "struct class " << type << "_class = {\"\", " << size << ", \"\"};\n";
    source << "int main(void) { puts(\"ready\"); fflush(stdout); pause(); return 0; }\n";
    source.close();
    const auto built = run_command({"gcc", "-g0", "-rdynamic", folder_.path("sized.c"), "-o", folder_.path("sized")});
    INFO(built.err);
    REQUIRE(built.exit_code == 0);
    process_ = std::make_unique<live_process>(std::vector<std::string>{folder_.path("sized")});
    REQUIRE(process_->next_line() == std::optional<std::string>{"ready"});
  }
  [[nodiscard]] result<std::optional<built_in_types>> types() const {
    live_memory memory(process_->pid());
    auto symbols = process_symbols::open(process_->pid(), memory, {{}, false});
    REQUIRE(symbols.has_value());
    return find_built_in_types(memory, (*symbols)->abi(), **symbols);
  }

 private:
  scratch_folder folder_;
  std::unique_ptr<live_process> process_;
};

/// The sizes that real libraries of 4.1 state.
std::map<std::string, std::uint64_t> true_sizes() {
  std::map<std::string, std::uint64_t> sizes;
  for (const structure_layout& type : layouts_of("4.1").types) {
    if (type.name != "opal_class_t" && type.name != "opal_proc_t") sizes[type.name] = type.size;
  }
  return sizes;
}

}  // namespace

TEST_CASE("built-in layouts are complete and small") {
  CHECK(carriers::built_in_layouts().size() == 4);
  for (const std::string_view text : carriers::built_in_layouts()) {
    CHECK(text.size() < 8192);
    const auto layouts = carriers::parse_layouts(text);
    REQUIRE(layouts.has_value());
    INFO(layouts->version);
    CHECK(layouts->mpi == "openmpi");
    CHECK(layouts->machine == "x86_64");
    CHECK(layouts->types.size() == 25);
    for (const structure_layout& type : layouts->types) {
      for (const structure_member& member : type.members) CHECK(member.offset + member.size <= type.size);
    }
  }
}

TEST_CASE("a text that has no layouts is refused, and the error has the line") {
  for (const std::string text :
       {"openmpi 4.1.4 x86_64\na 0 8 p\n", "openmpi 4.1.4 x86_64\nstruct t\n",
        "openmpi 4.1.4 x86_64\nstruct t 8\na 0 x p\n", "openmpi 4.1.4 x86_64\nstruct t 8\na 0 8 q\n"}) {
    const auto parsed = carriers::parse_layouts(text);
    REQUIRE_FALSE(parsed.has_value());
    const auto last = text.substr(text.rfind('\n', text.size() - 2) + 1);
    CHECK_THAT(parsed.error().message, ContainsSubstring(last.substr(0, last.size() - 1)));
  }
  CHECK_FALSE(carriers::parse_layouts("").has_value());
}

TEST_CASE("the built-in types of Open MPI equal those that the compiler makes from its headers") {
  const scratch_folder folder;
  const auto carrier = make_type_carrier({"openmpi", {}, {}, folder.path("types.so"), {}});
  if (!carrier) MPIACQ_SKIP("no types can be compiled here: " + carrier.error().message);
  const std::string series = carrier->version.substr(0, carrier->version.rfind('.'));
  auto compiled = type_file::open(carrier->path, {{}, false});
  REQUIRE(compiled.has_value());
  std::size_t members = 0;
  for (const structure_layout& type : layouts_of(series).types) {
    INFO(type.name);
    const auto same = (*compiled)->type_named(type.name, source_language::c);
    REQUIRE(same.has_value());
    REQUIRE(same->has_value());
    CHECK((*same)->size == type.size);
    CHECK((*same)->members.size() == type.members.size());
    for (const structure_member& member : type.members) {
      INFO(member.name);
      const structure_member* other = (*same)->find(member.name);
      REQUIRE(other != nullptr);
      CHECK(other->offset == member.offset);
      CHECK(other->size == member.size);
      CHECK(other->is_pointer == member.is_pointer);
      CHECK(other->is_signed == member.is_signed);
      ++members;
    }
  }
  CHECK(members > 150);
}

TEST_CASE("built-in types are used only for a process that confirms their sizes") {
  auto sizes = true_sizes();
  {
    const sized_process rank("4.1.7rc1", sizes);
    const auto found = rank.types();
    REQUIRE(found.has_value());
    REQUIRE(found->has_value());
    CHECK((*found)->title == "Open MPI 4.1.4");
    CHECK((*found)->compared.size() >= 10);
    const auto list = (*found)->types->type_named("struct opal_list_t", source_language::c);
    REQUIRE((list && *list));
    CHECK((*list)->size == sizes.at("opal_list_t"));
    CHECK_FALSE((*found)->types->type_named("absent", source_language::c)->has_value());
  }
  {
    sizes["ompi_request_t"] += 8;
    const auto other = sized_process("4.1.4", sizes).types();
    REQUIRE_FALSE(other.has_value());
    CHECK(other.error().code == error_code::bad_format);
    CHECK_THAT(other.error().message, ContainsSubstring("ompi_request_t") && ContainsSubstring("4.1.4 do not fit"));
    sizes["ompi_request_t"] -= 8;
  }
  {
    const auto few = sized_process("4.1.4", {{"ompi_request_t", sizes["ompi_request_t"]}}).types();
    REQUIRE_FALSE(few.has_value());
    CHECK_THAT(few.error().message, ContainsSubstring("only 1 of them"));
  }
  const auto none = sized_process("7.3.0", sizes).types();
  REQUIRE(none.has_value());
  CHECK_FALSE(none->has_value());
}

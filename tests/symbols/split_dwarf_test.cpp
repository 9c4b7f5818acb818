// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Debug information in other files than the program: .dwo files, packages of them (.dwp), and the symbol table that is
// packed in a stripped program (MiniDebugInfo). The oracles are LLVM's symbolizer and nm.
#include <map>

#include "code_oracle.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/process_types.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

void run_script(const std::string& folder, const std::string& script) {
  command_options options;
  options.directory = folder;
  const auto outcome = run_command({"sh", "-ec", script}, options);
  INFO(script << "\n" << outcome.err);
  REQUIRE(outcome.exit_code == 0);
}

/// Builds the program of the fixtures `inlined*` with these options in a folder; returns its path.
std::string build_inlined(const scratch_folder& folder, const std::string& name, const std::string& compiler,
                          const std::string& flags, const std::string& split = " -gsplit-dwarf") {
  const std::string here = MPIACQ_CODE_SOURCES;
  run_script(folder.path(""), compiler + " " + flags + split + " -o " + name + " " + here + "/inlined.c " + here +
                                  "/same_names.c " + here + "/here.c");
  return folder.path(name);
}

/// `whole` is the same program with unsplit debug information, for other readers, which see the same code in it. (They
/// do not read all split programs: LLVM 14 misses inlined calls in code of its own compiler.)
void check_against_oracles(const std::string& path, const std::string& whole) {
  const auto functions = functions_by_nm(path, false);
  REQUIRE_FALSE(functions.empty());
  const auto same = functions_by_nm(whole, false);
  REQUIRE(std::equal(functions.begin(), functions.end(), same.begin(), same.end(), [](const auto& a, const auto& b) {
    return a.address == b.address && a.size == b.size && a.name == b.name;
  }));
  const tally t = hold_against_both(path, functions, 300, whole);
  INFO(path << ": " << t.agreed << " of " << t.compared << " agree; first difference: " << t.first_difference);
  CHECK(t.compared >= 50);
  CHECK(t.agreed == t.compared);
}

/// The sizes of all variables.
std::map<std::string, std::uint64_t> sizes_by_nm(const std::string& file) {
  std::map<std::string, std::uint64_t> sizes;
  std::istringstream lines{run_command({"nm", "-S", "--defined-only", file}).out};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string address, size, kind, name;
    if (words >> address >> size >> kind >> name) sizes[name] = std::stoull(size, nullptr, 16);
  }
  return sizes;
}

struct variant {
  std::string compiler;
  std::string flags;
};

std::vector<variant> variants() {
  std::vector<variant> all = {{"gcc", "-O2 -gdwarf-5"},
                              {"gcc", "-O2 -gdwarf-4"},
                              {"gcc", "-O2 -gdwarf-5 -ffunction-sections -Wl,--gc-sections"},
                              {"gcc", "-O2 -gdwarf-4 -fno-pie -no-pie"},
                              {"gcc", "-O2 -gdwarf-5 -gz=zlib"}};
  if (is_installed("clang")) {
    all.push_back({"clang", "-O2 -gdwarf-5"});
    all.push_back({"clang", "-O2 -gdwarf-4 -ffunction-sections"});
  }
  return all;
}

}  // namespace

TEST_CASE("functions, inlined calls and lines of a program with .dwo files are equal to those of the unsplit program") {
  for (const variant& v : variants()) {
    INFO(v.compiler << ' ' << v.flags);
    const scratch_folder folder;
    const std::string whole = build_inlined(folder, "whole", v.compiler, v.flags, "");
    check_against_oracles(build_inlined(folder, "program", v.compiler, v.flags), whole);
  }
}

TEST_CASE(
    "functions, inlined calls and lines of a program with a .dwp package are equal to those of the unsplit program") {
  std::size_t packed = 0;
  for (const std::string packer : {"llvm-dwp", "dwp"}) {
    if (!is_installed(packer)) continue;
    for (const variant& v : variants()) {
      const bool is_newer = v.flags.find("dwarf-5") != std::string::npos;
      // gold's dwp packs only DWARF 4, and some versions of both tools do not pack compressed sections.
      if ((packer == "dwp" && is_newer) || v.flags.find("-gz") != std::string::npos) continue;
      INFO(packer << ": " << v.compiler << ' ' << v.flags);
      const scratch_folder folder;
      const std::string path = build_inlined(folder, "program", v.compiler, v.flags);
      run_script(folder.path(""), packer + " -e program -o program.dwp && rm *.dwo");
      check_against_oracles(path, build_inlined(folder, "whole", v.compiler, v.flags, ""));
      ++packed;
    }
  }
  if (packed == 0) MPIACQ_SKIP("neither llvm-dwp nor dwp, which make packages, is installed");
}

TEST_CASE("a program without its .dwo files has problems that name them, and keeps its lines and symbols") {
  const scratch_folder folder;
  const std::string path = build_inlined(folder, "program", "gcc", "-O2 -gdwarf-5");
  const auto functions = functions_by_nm(path, false);
  const auto work = std::find_if(functions.begin(), functions.end(), [](const auto& f) { return f.name == "main"; });
  REQUIRE(work != functions.end());
  run_script(folder.path(""), "rm *.dwo");
  elf::code_names names{open_image(path), path, {}};
  std::vector<error> problems;
  const auto places = names.describe(work->address, {{}, false}, problems);
  CHECK(places.back().function == "main");
  CHECK(places.back().line > 0);
  CHECK_THAT(text_of(problems), ContainsSubstring(".dwo is not found"));
}

TEST_CASE("a .dwo file of another build is not used") {
  const scratch_folder folder;
  const std::string path = build_inlined(folder, "program", "gcc", "-O2 -gdwarf-5");
  run_script(folder.path(""), "cp program kept");
  build_inlined(folder, "program", "gcc", "-O1 -gdwarf-5 -Dhelper=renamed_helper -Dwork=renamed_work");
  run_script(folder.path(""), "mv kept program");
  elf::code_names names{open_image(path), path, {}};
  std::vector<error> problems;
  for (const symbol_line& f : functions_by_nm(path, false)) {
    if (f.size == 0) continue;
    const auto places = names.describe(f.address, {{}, false}, problems);
    CHECK_THAT(places.back().function, !ContainsSubstring("renamed"));
  }
  CHECK_THAT(text_of(problems), ContainsSubstring(".dwo is not found"));
}

TEST_CASE("types in .dwo files and in a package agree with the compiler's layout") {
  const scratch_folder folder;
  // The sizes of the arrays show the layout of the structure.
  run_script(folder.path(""),
             "cat > types.c <<'END'\n"
             "#include <stddef.h>\n"
             "struct pair { char first; long second; short third[5]; };\n"
             "typedef struct { struct pair *pairs; int count; } list_t;\n"
             "struct pair pairs[3]; list_t list;\n"
             "char size_of_pair[sizeof(struct pair)], size_of_list[sizeof(list_t)];\n"
             "char place_of_third[offsetof(struct pair, third)];\n"
             "int main(void) { return pairs[0].first + list.count + size_of_pair[0]; }\n"
             "END\n");
  std::vector<std::pair<std::string, std::string>> kinds = {{"5", ""}, {"4", ""}};
  if (is_installed("llvm-dwp")) kinds.emplace_back("5", "llvm-dwp -e program -o program.dwp && rm *.dwo");
  for (const auto& [version, afterwards] : kinds) {
    INFO("DWARF " << version << ' ' << afterwards);
    run_script(folder.path(""), "gcc -O1 -gsplit-dwarf -gdwarf-" + version + " -o program types.c; " + afterwards);
    const auto told = sizes_by_nm(folder.path("program"));
    auto types = type_file::open(folder.path("program"), {{}, false});
    REQUIRE(types.has_value());
    const auto pair = (*types)->type_named("struct pair", source_language::c);
    REQUIRE((pair && *pair));
    CHECK((*pair)->size == told.at("size_of_pair"));
    REQUIRE((*pair)->find("third") != nullptr);
    CHECK((*pair)->find("third")->offset == told.at("place_of_third"));
    const auto list = (*types)->type_named("list_t", source_language::c);
    REQUIRE((list && *list));
    CHECK((*list)->size == told.at("size_of_list"));

    auto symbols = file_symbols::open(folder.path("program"), {{}, false});
    REQUIRE(symbols.has_value());
    const auto variable = (*symbols)->find_symbol("pairs");
    REQUIRE((variable && *variable));
    const auto layout = (*symbols)->layout_pointed_to_by(**variable, nullptr);
    REQUIRE((layout && *layout));
    CHECK((*layout)->size == told.at("size_of_pair"));
  }
}

TEST_CASE("the functions of a stripped program have the names in its packed symbol table") {
  if (!is_installed("xz")) MPIACQ_SKIP("xz, which packs the symbol table, is not installed");
  const scratch_folder folder;
  const std::string here = MPIACQ_CODE_SOURCES;
  // As in distributions: only the functions that the dynamic symbols lack are packed.
  run_script(folder.path(""), "gcc -O2 -rdynamic -o whole " + here + "/inlined.c " + here + "/same_names.c " + here +
                                  "/here.c\n"
                                  "nm -D whole --format=posix --defined-only | cut -d' ' -f1 | sort > exported\n"
                                  "nm whole --format=posix --defined-only | awk '$2 ~ /[tT]/ {print $1}' | sort > all\n"
                                  "comm -13 exported all > kept\n"
                                  "objcopy --only-keep-debug whole debug\n"
                                  "objcopy -S --remove-section .comment --keep-symbols=kept debug mini\n"
                                  "xz --keep mini\n"
                                  "strip --strip-all -R .comment -o bare whole\n"
                                  "objcopy --add-section .gnu_debugdata=mini.xz bare program\n");
  std::map<std::uint64_t, std::set<std::string>> known;
  const auto functions = functions_by_nm(folder.path("whole"), false);
  for (const symbol_line& f : functions) known[f.address].insert(f.name);
  REQUIRE(functions_by_nm(folder.path("program"), false).empty());
  elf::code_names names{open_image(folder.path("program")), "program", {}};
  std::vector<error> problems;
  std::size_t hidden = 0;
  const auto exported = file_contents(folder.path("exported"));
  for (const symbol_line& f : functions) {
    if (f.size < 2) continue;
    const auto places = names.describe(f.address + f.size / 2, {{}, false}, problems);
    INFO(f.name << ": " << places.back().function);
    bool agrees_with_one = false;
    for (const std::string& name : known[f.address]) {
      agrees_with_one = agrees_with_one || debug_info::function_of_symbol(name) == places.back().function;
    }
    CHECK(agrees_with_one);
    if (exported.find(f.name + "\n") == std::string::npos) ++hidden;
  }
  CHECK(hidden >= 3);
  CHECK(text_of(problems).empty());
}

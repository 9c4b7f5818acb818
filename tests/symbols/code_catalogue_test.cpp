// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// One catalogue for many processes: the files that it opens, the answers that it shares, and the files that it must
// distinguish.
#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "another_user.hpp"
#include "code_program.hpp"
#include "description.hpp"
#include "mpiacq/process/loaded_code.hpp"
#include "run_command.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// Replaces a file as package managers do: a new file gets the name, and the old one stays mapped.
void replace(const std::string& path, const std::string& by) {
  std::filesystem::copy_file(by, path + ".new");
  std::filesystem::rename(path + ".new", path);
}

/// The number of descriptors of this process that refer to a file.
std::size_t descriptors_of(const std::string& path) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (std::filesystem::read_symlink(entry.path(), ignored) == path) ++count;
  }
  return count;
}

/// All places of a program, in one query.
std::vector<std::shared_ptr<const code_places>> all_places(code_catalogue& catalogue, const code_map& map,
                                                           const code_program& program) {
  std::vector<code_catalogue::query> queries;
  for (const told_place& told : program.told) queries.push_back({&map, told.pc, true});
  return catalogue.describe(queries);
}

bool named_as_told(code_catalogue& catalogue, code_program& program) {
  auto map = code_map::read(program.process.pid(), program.memory);
  if (!map || program.told.empty()) return false;
  const auto places = all_places(catalogue, *map, program);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (functions_of(*places[i]) != program.told[i].functions) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("for eight processes of one program its file is opened once, and equal places are one object") {
  const std::string path = std::filesystem::canonical(code_fixture("inlined"));
  std::vector<std::unique_ptr<code_program>> ranks;
  for (int i = 0; i < 8; ++i) ranks.push_back(std::make_unique<code_program>(path));
  code_catalogue catalogue{code_search()};
  std::vector<code_map> maps;
  std::vector<std::vector<std::shared_ptr<const code_places>>> answers;
  for (auto& rank : ranks) {
    maps.push_back(rank->map());
    answers.push_back(all_places(catalogue, maps.back(), *rank));
  }
  CHECK(descriptors_of(path) == 1);
  const std::size_t asked = ranks[0]->told.size();
  CHECK(catalogue.counts().files == 1);
  CHECK(catalogue.counts().questions == 8 * asked);
  std::set<std::uint64_t> distinct;
  for (const told_place& told : ranks[0]->told) distinct.insert(told.pc.value());
  CHECK(catalogue.counts().looked_up == distinct.size());
  for (const auto& of_rank : answers) {
    REQUIRE(of_rank.size() == asked);
    for (std::size_t i = 0; i < asked; ++i) {
      REQUIRE(of_rank[i]->size() == answers[0][i]->size());
      for (std::size_t j = 0; j < of_rank[i]->size(); ++j) CHECK((*of_rank[i])[j] == (*answers[0][i])[j]);
    }
  }
  // Neither a map nor a name costs a read of memory.
  for (const auto& rank : ranks) CHECK(rank->memory.calls == 0);
}

TEST_CASE("equal places of different instructions are one object") {
  code_program program{code_fixture("no_symbols")};
  code_program other{code_fixture("no_symbols")};
  code_catalogue catalogue{code_search()};
  const code_map map = program.map();
  const code_map other_map = other.map();
  for (std::size_t i = 0; i < program.told.size(); ++i) {
    CHECK(catalogue.places(map, program.told[i].pc, true)->back() ==
          catalogue.places(other_map, other.told[i].pc, true)->back());
  }
  const target_address nowhere{16};
  CHECK(catalogue.places(map, nowhere, false)->back() == catalogue.places(other_map, nowhere, false)->back());
}

TEST_CASE("copies of a program with one build id count as one file, and other files of its name do not") {
  own_folder one;
  own_folder two;
  std::filesystem::copy_file(code_fixture("inlined"), one / "program");
  std::filesystem::copy_file(code_fixture("inlined"), two / "program");
  code_catalogue catalogue{code_search()};
  code_program first{one / "program"};
  code_program second{two / "program"};
  CHECK(named_as_told(catalogue, first));
  CHECK(named_as_told(catalogue, second));
  CHECK(catalogue.counts().files == 1);
  own_folder three;
  std::filesystem::copy_file(code_fixture("no_id"), three / "program");
  code_program third{three / "program"};
  CHECK(named_as_told(catalogue, third));
  CHECK(catalogue.counts().files == 2);
}

TEST_CASE("a program that is replaced or deleted while it runs keeps its own names") {
  for (const bool has_id : {true, false}) {
    for (const bool deleted : {false, true}) {
      INFO(has_id << ' ' << deleted);
      own_folder folder;
      const std::string path = folder / "program";
      std::filesystem::copy_file(code_fixture(has_id ? "inlined" : "no_id"), path);
      code_program older{path};
      if (deleted) {
        std::filesystem::remove(path);
      } else {
        replace(path, code_fixture(has_id ? "newer" : "no_id_newer"));
      }
      code_catalogue catalogue{code_search()};
      CHECK(named_as_told(catalogue, older));
      const code_map map = older.map();
      CHECK(map.module_path(older.told.front().pc) == path);
      if (deleted) continue;
      // The newer program, which runs beside it, has its own names, too.
      code_program newer{path};
      const code_map newer_map = newer.map();
      const auto places = all_places(catalogue, newer_map, newer);
      CHECK(places.front()->back()->function == "renamed_work");
    }
  }
}

TEST_CASE("without root's rights a program that was replaced keeps its names") {
  if (::geteuid() != 0) MPIACQ_SKIP("only root can give up root's rights");
  MPIACQ_NEEDS_ANOTHER_USER();
  CHECK(holds_as_nobody([] {
    own_folder folder;
    const std::string path = folder / "program";
    std::filesystem::copy_file(code_fixture("no_id"), path);
    code_program older{path};
    replace(path, code_fixture("no_id_newer"));
    code_catalogue catalogue{code_search()};
    return named_as_told(catalogue, older) && catalogue.problems().empty();
  }));
}

TEST_CASE("without root's rights a replaced library has no names, and gets none of the new file") {
  if (::geteuid() != 0) MPIACQ_SKIP("only root can give up root's rights");
  MPIACQ_NEEDS_ANOTHER_USER();
  // The fixture prints the address of its library's variable; the library's file has the distance to the function.
  std::map<std::string, std::uint64_t> offsets;
  std::istringstream symbols{run_command({"nm", "-D", "--defined-only", fixture("libmpir_no_id.so")}).out};
  std::string offset;
  std::string kind;
  std::string name;
  while (symbols >> offset >> kind >> name) offsets[name] = std::stoull(offset, nullptr, 16);
  const std::uint64_t distance = offsets.at("MPIR_proctable") - offsets.at("MPIR_Breakpoint");
  CHECK(holds_as_nobody([distance] {
    own_folder folder;
    const std::string library = folder / "libmpir_fixture.so";
    std::filesystem::copy_file(fixture("libmpir_no_id.so"), library);
    live_process process{{fixture("loader"), library}};
    process.lines_until_ready();
    process.tell('o');
    const description told{process.lines_until_ready()};
    const target_address function{told.symbols.at("MPIR_proctable").address - distance};
    live_memory memory{process.pid()};
    {
      auto map = code_map::read(process.pid(), memory);
      code_catalogue catalogue{code_search()};
      if (!map || catalogue.places(*map, function, false)->back()->function != "MPIR_Breakpoint") return false;
    }
    replace(library, fixture("libmpir_newer_no_id.so"));
    auto map = code_map::read(process.pid(), memory);
    code_catalogue catalogue{code_search()};
    if (!map) return false;
    const auto place = catalogue.places(*map, function, false)->back();
    return place->function.empty() && place->module_path == library && place->offset.value() != 0 &&
           text_of(catalogue.problems()).find("was replaced or deleted") != std::string::npos;
  }));
}

TEST_CASE("code without a file is shown as an address, and code of a file that is no program as its offset") {
  code_program program{code_fixture("machine_code")};
  REQUIRE(program.lines.size() == 2);
  std::istringstream text{program.lines[0] + " " + program.lines[1]};
  std::string word;
  std::string path;
  std::uint64_t nameless = 0;
  std::uint64_t in_file = 0;
  text >> word >> std::hex >> nameless >> word >> in_file >> path;
  code_catalogue catalogue{code_search()};
  const code_map map = program.map();
  const auto first = catalogue.places(map, target_address{nameless + 8}, false);
  REQUIRE(first->size() == 1);
  CHECK(*first->back() == code_place{{}, {}, 0, {}, module_offset{nameless + 8}});
  const auto second = catalogue.places(map, target_address{in_file + 0x1010}, false);
  REQUIRE(second->size() == 1);
  CHECK(*second->back() == code_place{{}, {}, 0, path, module_offset{0x1010}});
  CHECK_THAT(text_of(catalogue.problems()), ContainsSubstring("is not an ELF file"));
}

TEST_CASE("code of the vDSO has the names of the vDSO's own symbols") {
  const auto vdso = ::getauxval(AT_SYSINFO_EHDR);
  void* function = ::dlvsym(RTLD_DEFAULT, "clock_gettime", "GLIBC_2.17");
  if (vdso == 0 || function == nullptr) MPIACQ_SKIP("this machine has no vdso");
  void* image = ::dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
  void* clock = image == nullptr ? nullptr : ::dlsym(image, "__vdso_clock_gettime");
  if (clock == nullptr) MPIACQ_SKIP("the C library does not show the vdso's symbols");
  live_memory memory{process_id{::getpid()}};
  auto map = code_map::read(process_id{::getpid()}, memory);
  REQUIRE(map.has_value());
  code_catalogue catalogue{code_search()};
  const auto places = catalogue.places(*map, target_address{reinterpret_cast<std::uint64_t>(clock) + 1}, false);
  CHECK_THAT(places->back()->function, ContainsSubstring("clock_gettime"));
  CHECK(places->back()->module_path == "[vdso]");
}

TEST_CASE("expected places are read before a query, in a thread that blocks all signals") {
  code_program program{code_fixture("inlined")};
  const code_map map = program.map();
  code_catalogue catalogue{code_search()};
  std::vector<code_catalogue::query> queries;
  for (const told_place& told : program.told) queries.push_back({&map, told.pc, true});
  catalogue.expect(queries);
  const auto places = catalogue.describe(queries);
  for (std::size_t i = 0; i < places.size(); ++i) CHECK(functions_of(*places[i]) == program.told[i].functions);
  CHECK(catalogue.counts().files == 1);
  // The catalogue's thread blocks all signals.
  std::size_t others = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(::getpid())) continue;
    const std::string status = file_contents(task.path() / "status");
    const auto at = status.find("SigBlk:\t");
    REQUIRE(at != std::string::npos);
    // All signals except SIGKILL and SIGSTOP, which cannot be blocked, and two that the C library reserves.
    const auto blocked = std::stoull(status.substr(at + 8, 16), nullptr, 16);
    if ((blocked & 1U << (SIGTERM - 1)) != 0 && (blocked & 1U << (SIGCHLD - 1)) != 0) ++others;
  }
  CHECK(others >= 1);
}

TEST_CASE("a query succeeds for a process that is gone, and for a pc without code") {
  std::optional<code_map> map;
  target_address pc;
  live_memory memory{process_id{1}};
  {
    code_program program{code_fixture("inlined")};
    auto read = code_map::read(program.process.pid(), memory);
    REQUIRE(read.has_value());
    map = *read;
    pc = program.told.front().pc;
  }
  code_catalogue catalogue{code_search()};
  const auto places = catalogue.places(*map, pc, true);
  REQUIRE(places->size() == 1);
  CHECK(places->back()->function.empty());
  CHECK_FALSE(places->back()->module_path.empty());
  CHECK_FALSE(catalogue.problems().empty());
  CHECK(catalogue.places(*map, target_address{0}, true)->size() == 1);
  CHECK(catalogue.places(*map, target_address{UINT64_MAX}, true)->size() == 1);
}

TEST_CASE("what one process has shown of a file names the code of another process that has ended meanwhile") {
  code_catalogue catalogue{code_search()};
  code_program first{code_fixture("inlined")};
  std::optional<code_map> ended;
  std::vector<told_place> told;
  live_memory nothing{process_id{1}};
  // Facts are valid for a second, which can be too short on a busy machine.
  for (int attempt = 0; !ended && attempt < 20; ++attempt) {
    module_catalogue modules;
    code_program second{code_fixture("inlined")};
    const auto of_first = modules.learn(first.process.pid(), first.memory);
    REQUIRE(of_first.has_value());
    REQUIRE(functions_of(*all_places(catalogue, of_first->names, first).front()) == first.told.front().functions);
    auto of_second = modules.learn(second.process.pid(), nothing);
    if (!of_second || modules.counts().shared == 0) continue;
    ended = of_second->names;
    told = second.told;
  }
  REQUIRE(ended);
  for (const told_place& place : told) {
    CHECK(functions_of(*catalogue.places(*ended, place.pc, true)) == place.functions);
  }
  CHECK(catalogue.problems().empty());
  CHECK(catalogue.counts().files == 1);
  // Another catalogue has nothing of it.
  code_catalogue other{code_search()};
  CHECK(other.places(*ended, told.front().pc, true)->back()->function.empty());
}

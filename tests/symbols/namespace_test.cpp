// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Programs in a mount namespace of their own: their files are hidden from us, and other files have the same names here.
#include <filesystem>

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "elf/input_file.hpp"
#include "observed_program.hpp"
#include "run_command.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// Why no namespaces can be created here; empty if they can.
std::string why_no_namespaces() {
  if (::geteuid() != 0) return "it takes root to make a mount namespace";
  const pid_t child = ::fork();
  if (child == 0) {
    const bool may =
        ::unshare(CLONE_NEWNS | CLONE_NEWPID) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    ::_exit(may ? 0 : 1);
  }
  int status = 0;
  (void)::waitpid(child, &status, 0);
  return status == 0 ? "" : "the kernel, or this container, does not allow new mount and pid namespaces";
}

/// A shell script that mounts a file system of its own at `hidden`, fills it, and then executes a program.
std::vector<std::string> contained(const std::string& hidden, const std::string& fill, const std::string& program,
                                   const std::vector<std::string>& arguments = {}) {
  std::vector<std::string> line = {
      "unshare",
      "--mount",
      "--propagation",
      "private",
      "sh",
      "-c",
      "mount -t tmpfs none \"$1\" && cd \"$1\" && { " + fill + "; } && shift 2 && exec \"$@\"",
      "sh",
      hidden,
      fixture(""),
      program};
  line.insert(line.end(), arguments.begin(), arguments.end());
  return line;
}

}  // namespace

TEST_CASE("a program that exists only in its own mount namespace has symbols and types") {
  if (const auto why = why_no_namespaces(); !why.empty()) MPIACQ_SKIP(why);
  own_folder folder;
  observed seen{contained(folder / "", "cp \"$2/pie\" program", folder / "program"), {{folder / "debug"}, false}};
  REQUIRE_FALSE(std::filesystem::exists(folder / "program"));
  check_symbols(*seen.symbols, seen.told.symbols);
  check_symbols(*seen.symbols, seen.told.local_symbols);
  const auto layout = layout_of_table(*seen.symbols);
  REQUIRE(layout.has_value());
  check_layout(*layout, seen.told.layout);
  CHECK(all_problems(*seen.symbols).empty());
}

TEST_CASE("a library is read in its own mount namespace, and not the file of its name in ours") {
  if (const auto why = why_no_namespaces(); !why.empty()) MPIACQ_SKIP(why);
  own_folder folder;
  const std::string library = folder / "libmpir_fixture.so";
  // In our namespace the name leads to a newer version; in the other one it is a link from the root, which leads
  // nowhere here.
  std::filesystem::copy_file(fixture("libmpir_newer.so"), library);
  observed seen{contained(folder / "",
                          "cp \"$2/libmpir_fixture.so\" real.so && ln -s \"$1/real.so\" libmpir_fixture.so && "
                          "cp \"$2/copies\" program",
                          folder / "program"),
                {{folder / "debug"}, false}};
  check_symbols(*seen.symbols, seen.told.symbols);
  CHECK_FALSE(seen.symbols->find_symbol("only_in_the_newer").value().has_value());
  const auto layout = layout_of_table(*seen.symbols);
  REQUIRE(layout.has_value());
  check_layout(*layout, seen.told.layout);
  CHECK(layout->module_path == library);
  CHECK(all_problems(*seen.symbols).empty());
}

TEST_CASE("debug files in a process's own mount namespace are found, by build id and by link") {
  if (const auto why = why_no_namespaces(); !why.empty()) MPIACQ_SKIP(why);
  own_folder folder;
  const std::string name = GENERATE(std::string{"split_by_id"}, std::string{"split_by_link"});
  INFO(name);
  std::string fill = "cp \"$2/" + name + "\" program";
  if (name == "split_by_id") {
    fill += " && mkdir -p debug && cp -r \"$2/debug/.build-id\" debug";
  } else {
    fill += " && cp \"$2/split_by_link.debug\" .";
    // In our namespace there is an unrelated file of that name.
    std::filesystem::copy_file(fixture("pie"), folder / "split_by_link.debug");
  }
  observed seen{contained(folder / "", fill, folder / "program"), {{folder / "debug"}, false}};
  check_symbols(*seen.symbols, seen.told.symbols);
  const auto layout = layout_of_table(*seen.symbols);
  REQUIRE(layout.has_value());
  check_layout(*layout, seen.told.layout);
  CHECK(layout->source == layout_source::debug_file);
  CHECK_THAT(layout->debug_file, ContainsSubstring("/proc/" + std::to_string(seen.process.pid().value()) + "/root"));
  CHECK(all_problems(*seen.symbols).empty());
}

TEST_CASE("a program in another pid namespace has symbols under its pid in our namespace") {
  if (const auto why = why_no_namespaces(); !why.empty()) MPIACQ_SKIP(why);
  // unshare stays outside and forks: its child is the program, with pid 1 inside.
  live_process process{{"unshare", "--pid", "--fork", "--kill-child", "--mount-proc", fixture("in_library")}};
  const description told{process.lines_until_ready()};
  const auto children = file_contents("/proc/" + std::to_string(process.pid().value()) + "/task/" +
                                      std::to_string(process.pid().value()) + "/children");
  REQUIRE_FALSE(children.empty());
  const process_id inside{std::stol(children)};
  live_memory memory{inside};
  auto symbols = process_symbols::open(inside, memory, fixture_search());
  REQUIRE(symbols.has_value());
  check_symbols(**symbols, told.symbols);
  const auto layout = layout_of_table(**symbols);
  REQUIRE(layout.has_value());
  check_layout(*layout, told.layout);
  CHECK(all_problems(**symbols).empty());
}

TEST_CASE("a link below another root is resolved below that root, and never leads out of it") {
  own_folder root;
  own_folder outside;
  std::filesystem::create_directory(root / "sub");
  std::filesystem::copy_file(fixture("tiny"), root / "sub/real");
  std::filesystem::copy_file(fixture("pie"), outside / "real");
  const auto size = [&](const std::string& path) -> std::uintmax_t {
    const auto file = elf::input_file::open_below(root / "", path);
    return file ? file->size() : 0;
  };
  const auto tiny = std::filesystem::file_size(fixture("tiny"));
  std::filesystem::create_symlink("/sub/real", root / "absolute");
  std::filesystem::create_symlink("../../../../sub/real", root / "sub/relative");
  std::filesystem::create_symlink(outside / "real", root / "to_outside");
  std::filesystem::create_symlink("/proc/self/exe", root / "to_proc");
  CHECK(size("/absolute") == tiny);
  CHECK(size("sub/relative") == tiny);
  CHECK(size("/sub/../absolute") == tiny);
  CHECK(size("/to_outside") == 0);
  CHECK(size("/to_proc") == 0);
  CHECK(elf::input_file::open_below(root / "", "/absent").error().code == error_code::not_found);
  CHECK(elf::input_file::open_below(root / "absent", "/absent").error().code == error_code::not_found);
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Core files that are too large, too late or too many, and callers and processes that make no sense.
#include <csignal>
#include <fstream>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "catch.hpp"
#include "core_dump/process_dump.hpp"
#include "descriptors/unique_fd.hpp"
#include "fake_memory.hpp"
#include "memory_kinds.hpp"
#include "mpiacq/process/core_file.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

base::unique_fd new_file(const std::string& path, int flags = O_WRONLY) {
  return base::unique_fd{::open(path.c_str(), flags | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
}

/// A process that was not stopped, with one thread whose registers are zeros: for tests that look at the file alone.
core_process without_registers(process_id pid) {
  core_process process;
  process.process = pid;
#if defined(__aarch64__)
  constexpr std::size_t size_of_registers = 272;
#else
  constexpr std::size_t size_of_registers = 216;
#endif
  process.threads.push_back({thread_id{pid.value()}, std::vector<std::byte>(size_of_registers), {}});
  return process;
}

}  // namespace

TEST_CASE("a limit of bytes leaves out memory, but not the stacks") {
  kinds k{"memory_kinds"};
  const held_process held{k.process.pid()};
  if (!held.is_held()) MPIACQ_SKIP("the process cannot be traced");
  live_memory memory{k.process.pid()};
  core_write_options options;
  options.most_bytes = 120'000;
  const auto file = new_file(k.folder / "written");
  const auto w = write_core(held.process(), memory, file.get(), options);
  if (!w) FAIL(w.error().message);
  CHECK(w->stored <= *options.most_bytes);
  CHECK(w->left_out > 0);
  CHECK_THAT(texts(w->problems), ContainsSubstring("lacks " + std::to_string(w->left_out) + " bytes of memory"));
  auto core = core_file::open(k.folder / "written");
  REQUIRE(core);
  CHECK(read(**core, k.places["stack"]) == read(memory, k.places["stack"]));
  // What is left out is not in the core: it is no zeros.
  CHECK(read(**core, k.places["deleted_file"]).empty());
  CHECK(read(**core, k.places["shared"]).empty());
}

TEST_CASE("a core is written as far as the time goes") {
  kinds k{"memory_kinds"};
  live_memory memory{k.process.pid()};
  const core_process process = without_registers(k.process.pid());
  core_write_options options;
  SECTION("over before the beginning") {
    options.until = clock::now();
    const auto file = new_file(k.folder / "written");
    const auto w = write_core(process, memory, file.get(), options);
    REQUIRE_FALSE(w);
    CHECK(w.error().code == error_code::timed_out);
  }
  SECTION("cancelled during the memory") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    options.until.stop = ends[0];
    int pieces = 0;
    options.between_pieces = [&]() -> result<void> {
      if (++pieces == 5) (void)!::write(ends[1], "x", 1);
      return {};
    };
    const auto file = new_file(k.folder / "written");
    const auto w = write_core(process, memory, file.get(), options);
    ::close(ends[0]);
    ::close(ends[1]);
    if (!w) FAIL(w.error().message);
    CHECK(pieces == 5);
    CHECK(w->left_out > 0);
    REQUIRE(w->problems.size() == 1);
    CHECK(w->problems.front().code == error_code::timed_out);
    CHECK(core_file::open(k.folder / "written"));
  }
  SECTION("the caller's own error") {
    options.between_pieces = [&]() -> result<void> { return fail(error_code::limit, "the hold is over"); };
    const auto file = new_file(k.folder / "written");
    const auto w = write_core(process, memory, file.get(), options);
    REQUIRE_FALSE(w);
    CHECK(w.error().message == "the hold is over");
    CHECK_FALSE(core_file::open(k.folder / "written"));
  }
}

TEST_CASE("a limit of file sizes is an error and no signal") {
  kinds k{"memory_kinds"};
  live_memory memory{k.process.pid()};
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{65536, before.rlim_max};
  const auto file = new_file(k.folder / "written");
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const auto w = write_core(without_registers(k.process.pid()), memory, file.get());
  ::setrlimit(RLIMIT_FSIZE, &before);
  REQUIRE_FALSE(w);
  CHECK(w.error().code == error_code::system);
  CHECK(w.error().system_errno == EFBIG);
  CHECK_THAT(w.error().message,
             ContainsSubstring("writing the core file of process") && ContainsSubstring("File too large"));
}

TEST_CASE("a full file system is an error that says so") {
  kinds k{"memory_kinds"};
  std::filesystem::create_directory(k.folder / "small");
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    // The mount is seen by this child alone.
    std::string answer = "no mount";
    if (::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        ::mount("none", (k.folder / "small").c_str(), "tmpfs", 0, "size=128k") == 0) {
      live_memory memory{k.process.pid()};
      const auto file = new_file(k.folder / "small/written");
      const auto w = write_core(without_registers(k.process.pid()), memory, file.get());
      answer = w ? "written" : std::to_string(w.error().system_errno) + " " + w.error().message;
    }
    (void)!::write(ends[1], answer.data(), answer.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  char text[1024] = {};
  REQUIRE(::read(ends[0], text, sizeof text - 1) > 0);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  if (std::string{text} == "no mount") MPIACQ_SKIP("this user may not mount a file system");
  CHECK_THAT(std::string{text}, ContainsSubstring(std::to_string(ENOSPC) + " writing the core file of process") &&
                                    ContainsSubstring("No space left on device"));
}

TEST_CASE("more mappings than an ELF header can count") {
  own_folder folder;
  const process_id pid{4242};
  const std::string proc = folder / "4242";
  std::filesystem::create_directory(proc);
  std::filesystem::copy_file(fixture("memory_kinds"), proc + "/exe");
  std::ofstream{proc + "/stat"} << "4242 (many) t 1 2 3 0 0 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0\n";
  std::ofstream{proc + "/status"} << "Name:\tmany\nUid:\t5\t5\t5\t5\nGid:\t6\t6\t6\t6\n";
  std::ofstream{proc + "/cmdline"} << "many";
  std::ofstream{proc + "/auxv"} << std::string(16, '\0');
  constexpr std::size_t count = 70'000;
  fake_memory memory;
  {
    std::ofstream smaps{proc + "/smaps"};
    for (std::size_t i = 0; i < count; ++i) {
      smaps << std::hex << 0x10000 + i * 8192 << "-" << 0x11000 + i * 8192 << " rw-p 00000000 00:00 0 \n"
            << "Anonymous:  " << (i == count - 1 ? 4 : 0) << " kB\nVmFlags: rd wr\n";
    }
  }
  const std::uint64_t last = 0x10000 + (count - 1) * 8192;
  memory.map(target_address{last}, std::vector<std::byte>(4096, std::byte{'L'}));
  const auto file = new_file(folder / "written");
  const auto w = elf::dump_process(without_registers(pid), memory, file.get(), {}, folder / "");
  if (!w) FAIL(w.error().message);
  CHECK(w->mappings == count);
  CHECK(texts(w->problems).empty());
  auto core = core_file::open(folder / "written");
  if (!core) FAIL(core.error().message);
  CHECK(read(**core, {last, 4096}) == std::vector<std::byte>(4096, std::byte{'L'}));
  const auto listed = run_command({"readelf", "-W", "-l", folder / "written"});
  if (listed.exit_code != 0) MPIACQ_SKIP("readelf is not installed");
  CHECK_THAT(listed.out, ContainsSubstring("There are 70001 program headers"));
  CHECK(listed.err.empty());
}

TEST_CASE("arguments that make no core are refused before anything is written") {
  kinds k{"memory_kinds"};
  live_memory memory{k.process.pid()};
  core_process process = without_registers(k.process.pid());
  const auto refused = [&](int descriptor) {
    const auto w = write_core(process, memory, descriptor);
    REQUIRE_FALSE(w);
    CHECK(w.error().code == error_code::invalid_argument);
    return w.error().message;
  };
  const auto good = new_file(k.folder / "good");
  SECTION("descriptors") {
    CHECK_THAT(refused(-1), ContainsSubstring("is not open"));
    const base::unique_fd device{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
    CHECK_THAT(refused(device.get()), ContainsSubstring("is not a regular file"));
    const base::unique_fd reading{::open((k.folder / "good").c_str(), O_RDONLY | O_CLOEXEC)};
    CHECK_THAT(refused(reading.get()), ContainsSubstring("open for writing"));
    CHECK_THAT(refused(new_file(k.folder / "appended", O_WRONLY | O_APPEND).get()),
               ContainsSubstring("open for writing"));
    REQUIRE(::write(good.get(), "x", 1) == 1);
    CHECK_THAT(refused(good.get()), ContainsSubstring("is not empty"));
  }
  SECTION("registers of another machine") {
    process.threads.front().registers.resize(100);
    CHECK_THAT(refused(good.get()), ContainsSubstring("has 100 bytes of registers"));
  }
  SECTION("no thread") {
    process.threads.clear();
    CHECK_THAT(refused(good.get()), ContainsSubstring("at least one thread"));
  }
  struct stat about {};
  REQUIRE(::stat((k.folder / "good").c_str(), &about) == 0);
  CHECK(about.st_size <= 1);
}

TEST_CASE("a process that has ended has no core") {
  own_folder folder;
  process_id pid;
  {
    const kinds k{"memory_kinds"};
    pid = k.process.pid();
  }
  live_memory memory{pid};
  const auto file = new_file(folder / "written");
  const auto w = write_core(without_registers(pid), memory, file.get());
  REQUIRE_FALSE(w);
  CHECK(w.error().code == error_code::process_gone);
}

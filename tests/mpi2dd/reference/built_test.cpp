// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The built programs, as nm, readelf and gdb see them.
#include <filesystem>

#include "catch.hpp"
#include "reference_job.hpp"

using namespace mpiacq::test;

namespace {
std::string told_by(const std::vector<std::string>& command) {
  const auto outcome = run_command(command);
  CHECK(outcome.exit_code == 0);
  return outcome.out;
}
bool has_symbols(const std::string& table) {
  return table.find(" MPI2DD_info\n") != std::string::npos && table.find(" MPI2DD_breakpoint\n") != std::string::npos;
}
}  // namespace

TEST_CASE("every variant runs a job that spawns, without a tool") {
  const std::string variant =
      GENERATE("", "_plain", "_bare", "_plain_bare", "_library", "_both", "_bad_magic", "_version_2", "_variant_2");
  reference_job job{
      {"mpi2dd_starter" + variant, "--ranks", "2", "--directories", "2", "--world", "w0", "--hold", "spawn_apart=1"}};
  const std::size_t stride = variant.starts_with("_plain") ? 24 : 20;
  const seen_process s = job.ready().look(job.pid(), stride);
  REQUIRE(s.directories.size() == 3);
  for (int i = 0; i < 3; ++i) {
    const auto place = s.directories[static_cast<std::size_t>(i)];
    CHECK(place.executable == MPIACQ_MPI2DD "/mpi2dd_directory" + variant);
    // The third is the rank's own: its number counts from 0 again, and is the later line of that key.
    if (i == 1) CHECK(place.pid == job.said_pid("directory.1.pid"));
    if (i == 2) CHECK(place.pid == job.said_pid("directory.0.pid"));
  }
  const char magic = variant == "_bad_magic" ? '1' : '2';
  const char version = variant == "_version_2" ? 2 : 1;
  const char kind = variant == "_variant_2" ? 2 : 1;
  const std::string begin = {'M', 'P', 'I', magic, 0x7f, version, kind};
  for (const pid_t pid : {job.pid(), job.rank("w0", 1), static_cast<pid_t>(s.directories[0].pid)}) {
    CHECK(job.look(pid).begin == begin);
  }
  CHECK(job.end() == 0);
  CHECK(job.said(job.pid(), "breakpoint_calls") == "1");
  CHECK(job.said(job.rank("w0", 0), "breakpoint_calls") == "1");
  CHECK(job.said(job.pid(), "mpir_breakpoint_calls") == (variant == "_both" ? "1" : "(nothing)"));
}

TEST_CASE("the symbols are in the module that the variant names") {
  const std::string folder = MPIACQ_MPI2DD "/";
  CHECK(has_symbols(told_by({"nm", folder + "mpi2dd_rank"})));
  CHECK_FALSE(has_symbols(told_by({"nm", "-D", folder + "mpi2dd_rank"})));
  CHECK(has_symbols(told_by({"nm", "-D", folder + "mpi2dd_rank_bare"})));
  CHECK(told_by({"nm", folder + "mpi2dd_rank_bare"}).empty());
  CHECK(has_symbols(told_by({"nm", "-D", "--defined-only", folder + "libmpi2dd_library.so"})));
  CHECK_FALSE(has_symbols(told_by({"nm", "--defined-only", folder + "mpi2dd_rank_library"})));
  const std::string both = told_by({"nm", folder + "mpi2dd_starter_both"});
  CHECK(has_symbols(both));
  CHECK(both.find(" MPIR_Breakpoint\n") != std::string::npos);
  CHECK(told_by({"nm", folder + "mpi2dd_starter"}).find("MPIR_") == std::string::npos);
}

TEST_CASE("gdb shows the offsets of the document") {
  if (!is_installed("gdb")) MPIACQ_SKIP(gdb_not_installed);
  const std::string plain = GENERATE("", "_plain");
  std::vector<std::string> what;
  std::string expected;
  const auto ask = [&](const std::string& expression, int value) {
    what.insert(what.end(), {"-ex", "print/d (long)" + expression});
    expected += "$" + std::to_string(what.size() / 2) + " = " + std::to_string(value) + "\n";
  };
  const auto offset = [&](const std::string& type, const std::string& member, int value) {
    ask("&((struct " + type + "*)0)->" + member, value);
  };
  ask("sizeof(struct MPI2DD_INFO)", 128);
  offset("MPI2DD_INFO", "debug_state", 7);
  offset("MPI2DD_INFO", "debugger_flags", 8);
  offset("MPI2DD_INFO", "mpi_flags", 12);
  offset("MPI2DD_INFO", "meta_host_name", 32);
  offset("MPI2DD_INFO", "abort_string", 48);
  offset("MPI2DD_INFO", "metadirectory_table", 72);
  offset("MPI2DD_INFO", "proctable_size", 80);
  offset("MPI2DD_INFO", "meta_pid", 92);
  ask("sizeof(struct MPI2DD_PROCDESC)", 40);
  offset("MPI2DD_PROCDESC", "comm_world_id", 24);
  offset("MPI2DD_PROCDESC", "rank", 36);
  ask("sizeof(struct MPI2DD_SPAWNDESC)", 16);
  offset("MPI2DD_DIRECTORYENTRY", "pid", 16);
  ask("sizeof(struct MPI2DD_DIRECTORYENTRY)", plain.empty() ? 20 : 24);
  what.push_back(MPIACQ_MPI2DD "/mpi2dd_starter" + plain);
  CHECK(told_by(gdb_command(what)) == expected);
}

TEST_CASE("a job of 32-bit programs") {
#ifdef MPIACQ_HAVE_32_BIT_MPI2DD
  reference_job job{{"mpi2dd_starter_32", "--ranks", "2", "--directories", "1", "--world", "w0", "--hold", "spawn=1"}};
  job.ready();
  const pid_t directory = job.said_pid("directory.0.pid");
  const remote memory{directory};
  const std::uint64_t info = job.info_address(directory);
  REQUIRE(memory.get<std::int32_t>(info + 48) == 3);
  const std::uint64_t table = memory.get<std::uint32_t>(info + 36);
  CHECK(memory.get<std::int32_t>(table + 24 + 16) == job.rank("w0", 1));
  CHECK(memory.get<std::int32_t>(table + 24 + 20) == 1);
  const std::uint64_t spawn = memory.get<std::uint32_t>(table + 48 + 8);
  CHECK(memory.text(memory.get<std::uint32_t>(spawn)) == "w0");
  CHECK(job.end() == 0);
#else
  MPIACQ_SKIP("there is no C library of 32 bits (libc6-dev-i386), or the kernel runs no such programs");
#endif
}

TEST_CASE("a big-endian job, and the core that QEMU writes of its starter") {
#ifdef MPIACQ_QEMU_S390X
  const std::string sysroot = "/usr/s390x-linux-gnu";
  scratch_folder folder;
  ::setenv("MPI2DD_RUNNER", (std::string{MPIACQ_QEMU_S390X " -L "} + sysroot).c_str(), 1);
  ::setenv("MPIACQ_ORACLE", folder.path("oracle").c_str(), 1);
  live_process starter{{"/bin/sh", "-c", "ulimit -c unlimited; cd \"$1\"; shift; exec \"$@\"", "sh", folder.path(""),
                        MPIACQ_QEMU_S390X, "-L", sysroot, MPIACQ_MPI2DD "/mpi2dd_starter_s390x", "--ranks", "2",
                        "--world", "w0", "--hold", "spawn=1"}};
  ::unsetenv("MPI2DD_RUNNER");
  ::unsetenv("MPIACQ_ORACLE");
  (void)starter.lines_until_ready();
  const auto oracle = read_oracle(folder.path("oracle"));
  CHECK(oracle.contains("event.START"));
  CHECK(oracle.contains("event.SPAWN"));
  ::kill(static_cast<pid_t>(starter.pid().value()), SIGABRT);
  (void)starter.end();
  std::string core;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(""))) {
    if (entry.path().filename().string().starts_with("qemu_")) core = file_contents(entry.path());
  }
  if (core.empty()) MPIACQ_SKIP("QEMU writes no core here");
  // Magic, version, variant, state START; no debugger's flags; metadirectory, directory and starter: most significant
  // first.
  CHECK(core.find(std::string("MPI2\x7f\1\1\1\0\0\0\0\0\0\0\7", 16)) != std::string::npos);
#else
  MPIACQ_SKIP("qemu-user and gcc-s390x-linux-gnu are not installed");
#endif
}

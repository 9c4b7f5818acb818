// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// How a PMIx server is found: its library, its rendezvous file, the environment of its ranks.
#include "server/pmix_server.hpp"

#include <filesystem>
#include <fstream>

#include <sys/sysmacros.h>

#include "pmix_fixture.hpp"
#include "server/rendezvous_file.hpp"
#include "server/version_text.hpp"

using namespace mpiacq;
using namespace mpiacq::pmix;
using namespace mpiacq::test;

TEST_CASE("the version of PMIx is the first word that begins with a number and a point") {
  CHECK(version_in("OpenPMIx 5.0.7a1 (PMIx Standard: 5.1, Stable ABI: 5.0)") == "5.0.7a1");
  CHECK(version_in("OpenPMIx 4.2.2, repo rev: v4.2.2 (PMIx Standard: 4.2)") == "4.2.2");
  CHECK(version_in("5.0.7a1") == "5.0.7a1");
  CHECK(version_in("").empty());
  CHECK(version_in("no version, 7 at all").empty());
  CHECK(version_in("1." + std::string(10000, '1')).size() <= 32);
}

TEST_CASE("servers of PMIx 4 and before are not asked, and a version without a number says nothing") {
  for (const char* old : {"3.2.3", "4.2.2", "4.99rc1"}) CHECK(is_too_old_to_ask(old));
  for (const char* other : {"5.0.7a1", "7.0.0rc1", "10.1", "", "0.1", "unknown"}) CHECK_FALSE(is_too_old_to_ask(other));
}

TEST_CASE("a rendezvous file has a URI, a version and a pid") {
  const auto read = parse_rendezvous("prterun-vm-42@0.0;tcp4://192.0.2.2:52217\n5.0.7a1\n42\n0:0\nTue Nov 24\n\n");
  REQUIRE(read);
  CHECK(*read == rendezvous{"prterun-vm-42@0.0;tcp4://192.0.2.2:52217", "5.0.7a1", process_id{42}});
  for (const char* text : {"", "\n\n\n", "no uri\n5.0\n42\n", "a.0;tcp4://x\n5.0\n", "a.0;tcp4://x\n5.0\nmany\n",
                           "a.0;tcp4://x\n5.0\n-3\n", "a.0;tcp4://x\n5.0\n4 2\n", "a.0;tcp4:/x\n5.0\n42\n",
                           "a b;tcp4://x\n5.0\n42\n", ";tcp4://x\n5.0\n42\n", "a.0;tcp4://\x1b[2J\n5.0\n42\n"}) {
    INFO(text);
    CHECK_FALSE(parse_rendezvous(text));
  }
  CHECK_FALSE(parse_rendezvous("a.0;tcp4://" + std::string(5000, 'x') + "\n5.0\n42\n"));
}

TEST_CASE("a rendezvous file counts if it and its folder belong to the user of the server") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  namespace fs = std::filesystem;
  const user_id self{::geteuid()};
  const auto put = [&](const std::string& name, int pid) {
    fs::create_directories(fs::path(folder.path() + "/" + name).parent_path());
    std::ofstream(folder.path() + "/" + name) << "a.0;tcp4://" << pid << "\n5.0.7\n" << pid << "\n";
  };
  put("prterun.n1.42.0/pmix.n1.tool.42", 42);
  put("prterun.n1.421.0/pmix.n1.tool.421", 421);
  put("ompi.77/pmix.n1.tool", 77);
  put("pmix.n1.tool.88", 88);
  put("prterun.n1.99.0/something", 99);
  put("prterun.n1.55.0/pmix.n1.tool.55", 56);  // another process's
  const auto uri_of = [&](int pid) {
    const auto found = find_rendezvous(folder.path(), process_id{pid}, self);
    return found ? found->uri : "";
  };
  CHECK(uri_of(42) == "a.0;tcp4://42");
  CHECK(uri_of(421) == "a.0;tcp4://421");
  CHECK(uri_of(77) == "a.0;tcp4://77");
  CHECK(uri_of(88) == "a.0;tcp4://88");
  CHECK(uri_of(99).empty());
  CHECK(uri_of(55).empty());
  CHECK(uri_of(2).empty());
  CHECK_FALSE(find_rendezvous(folder.path(), process_id{42}, user_id{self.value() + 1}));
  CHECK_FALSE(find_rendezvous(folder.path() + "/nowhere", process_id{42}, self));
  // A link is not followed: it can lead anywhere.
  fs::create_directory_symlink(folder.path() + "/prterun.n1.42.0", folder.path() + "/link.43");
  fs::create_symlink(folder.path() + "/pmix.n1.tool.88", folder.path() + "/ompi.77/pmix.n1.tool.other");
  CHECK(uri_of(43).empty());
}

TEST_CASE("the library is the libpmix that the memory map names") {
  const std::string_view maps =
      "55d000-55e000 r--p 00000000 fe:00 100 /usr/bin/prte\n"
      "7f4000-7f5000 r--p 00000000 fe:1f 11167735                   /usr/lib/x/pmix2/lib/libpmix.so.2.13.7\n"
      "7f6000-7f7000 r--p 00000000 fe:00 7 /other/libpmix.so.2\n";
  const auto found = pmix_library_in(maps);
  REQUIRE(found);
  CHECK(found->path == "/usr/lib/x/pmix2/lib/libpmix.so.2.13.7");
  CHECK(found->inode == 11167735);
  CHECK(found->device == makedev(0xfe, 0x1f));
  CHECK_FALSE(found->is_deleted);
  const auto gone = pmix_library_in("7f-80 r-xp 00000000 fe:00 9   /opt/a b/libpmix.so (deleted)\n");
  REQUIRE(gone);
  CHECK(gone->path == "/opt/a b/libpmix.so");
  CHECK(gone->is_deleted);
  for (const char* text : {"", "\n\n", "7f-80 r-xp 0 fe:00 9 /usr/lib/libpmixx.so\n", "libpmix.so", "/libpmix.so",
                           "a b c d e /libpmix.so\n", "7f-80 r-xp 0 fe:00 99999999999999999999999 /libpmix.so\n"}) {
    INFO(text);
    CHECK_FALSE(pmix_library_in(text));
  }
}

TEST_CASE("a rank's environment says where its server listens") {
  using namespace std::string_view_literals;
  const auto told = server_in_environment(
      "PMIX_SERVER_URI21=a.0;tcp4://old\0PMIX_SERVER_URI41=a.0;tcp4://new\0PMIX_NAMESPACE=a@1\0PMIX_VERSION=5.0.7a1\0"
      "PMIX_SERVER_TMPDIR=/scratch/a\0"sv);
  CHECK(told.uri == "a.0;tcp4://new");
  CHECK(told.version == "5.0.7a1");
  CHECK(told.nspace == "a@1");
  CHECK(told.folder == "/scratch/a");
  CHECK(server_in_environment("PMIX_SERVER_URI41=nonsense\0PMIX_SERVER_URI4=a.0;tcp4://x\0"sv).uri == "a.0;tcp4://x");
  CHECK(server_in_environment("").uri.empty());
}

TEST_CASE("a live server is found by its file in its own TMPDIR, or by one of its ranks") {
  const trusted_folder folder;
  REQUIRE_TRUSTED(folder);
  const auto server_of = [](process_id pid, const std::optional<told_by_rank>& rank = {}) {
    auto process = process_facts::open(pid);
    REQUIRE(process);
    return find_server(std::make_shared<const process_facts>(std::move(*process)), rank);
  };
  const running_server server(folder, folder.copy_of("usual"), "honest", 1);
  const auto found = server_of(server.pid());
  REQUIRE(found);
  REQUIRE(*found);
  CHECK((*found)->version == "5.0.7a1");
  CHECK((*found)->uri.starts_with("honest.0;fake://"));
  CHECK((*found)->library == folder.path() + "/usual/libpmix.so");

  const running_server hidden(folder, folder.copy_of("usual"), "honest", 1, "-");
  const auto not_found = server_of(hidden.pid());
  REQUIRE_FALSE(not_found);
  CHECK(not_found.error().code == error_code::not_found);
  CHECK(not_found.error().message.find(folder.path()) != std::string::npos);
  const auto by_rank = server_of(hidden.pid(), told_by_rank{"honest.0;fake://1", "5.0.7a1", "", "job@1"});
  REQUIRE(by_rank);
  REQUIRE(*by_rank);
  CHECK((*by_rank)->uri == "honest.0;fake://1");

  // A process that uses no PMIx is no server.
  const auto none = server_of(process_id{::getpid()});
  REQUIRE(none);
  CHECK_FALSE(*none);

  // The file that the server has mapped is gone: what its path leads to now is another library.
  std::filesystem::remove(folder.path() + "/usual/libpmix.so");
  const auto replaced = server_of(server.pid());
  REQUIRE_FALSE(replaced);
  CHECK(replaced.error().code == error_code::unsupported);
}

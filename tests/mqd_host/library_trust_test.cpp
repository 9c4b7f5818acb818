// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Which libraries may be loaded. The test makes files and folders with the owners and modes that matter.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include "catch.hpp"
#include "helper/library_file.hpp"
#include "mpiacq/queues/queue_host.hpp"

using namespace mpiacq;
using mpiacq::base::open_library;
namespace fs = std::filesystem;

namespace {

/// A folder that only its owner can write, below a folder of that kind. Below /tmp no library would be trusted.
class private_folder {
 public:
  private_folder() {
    const char* const home = std::getenv("HOME");
    for (const char* base : {home, "/root", "/var/lib", "/run"}) {
      if (base == nullptr || !queue_library_trust_of_folder(base)) continue;
      std::string pattern = std::string(base) + "/mpiacq-trust-XXXXXX";
      if (::mkdtemp(pattern.data()) == nullptr) continue;
      path = pattern;
      return;
    }
  }
  ~private_folder() {
    std::error_code ignored;
    if (!path.empty()) fs::remove_all(path, ignored);
  }
  private_folder(const private_folder&) = delete;
  private_folder& operator=(const private_folder&) = delete;

  /// Makes a copy of a real library with this mode.
  std::string library(const std::string& name, ::mode_t mode = 0755) const {
    const std::string file = path + "/" + name;
    fs::copy_file(MPIACQ_QUEUE_LIBRARIES "/libqueue_perfect.so", file, fs::copy_options::overwrite_existing);
    ::chmod(file.c_str(), mode);
    return file;
  }

  std::string path;

 private:
  /// The rule of trust for folders, written independently of the library's code.
  static bool queue_library_trust_of_folder(const fs::path& folder) {
    for (fs::path at = fs::canonical(folder);; at = at.parent_path()) {
      struct stat facts {};
      if (::stat(at.c_str(), &facts) != 0 || (facts.st_mode & 022) != 0) return false;
      if (facts.st_uid != 0 && facts.st_uid != ::geteuid()) return false;
      if (at == at.root_path()) return true;
    }
  }
};

std::string refusal(const std::string& path) {
  const auto trusted = queue_library_trust(path, ::geteuid());
  if (trusted) return "trusted";
  return trusted.error().code == error_code::permission ? trusted.error().message : "another error";
}

}  // namespace

TEST_CASE("a library that no other user can write is trusted") {
  const private_folder folder;
  if (folder.path.empty()) MPIACQ_SKIP("no folder here that only its owner can write, up to the root");
  CHECK(refusal(folder.library("lib.so")) == "trusted");
  fs::create_symlink("lib.so", folder.path + "/link.so");
  CHECK(refusal(folder.path + "/link.so") == "trusted");
  fs::create_directory(folder.path + "/below");
  fs::create_symlink("../link.so", folder.path + "/below/up.so");
  CHECK(refusal(folder.path + "/below/up.so") == "trusted");
  CHECK(refusal(folder.path + "/below/.././/lib.so") == "trusted");
}

TEST_CASE("a library or folder that other users can write is not trusted, and the error names it") {
  const private_folder folder;
  if (folder.path.empty()) MPIACQ_SKIP("no folder here that only its owner can write, up to the root");
  CHECK_THAT(refusal(folder.library("world.so", 0777)),
             ContainsSubstring("world.so can be written by all users (mode 777)"));
  CHECK_THAT(refusal(folder.library("group.so", 0775)), ContainsSubstring("group.so can be written by group"));
  const std::string open_folder = folder.path + "/open";
  fs::create_directory(open_folder);
  const std::string inside = folder.library("open/lib.so");
  CHECK(refusal(inside) == "trusted");
  ::chmod(open_folder.c_str(), 01777);
  CHECK_THAT(refusal(inside), ContainsSubstring(open_folder + " can be written by all users (mode 1777)"));
  // A link in a trusted folder that leads there.
  fs::create_symlink(inside, folder.path + "/good.so");
  CHECK_THAT(refusal(folder.path + "/good.so"), ContainsSubstring(open_folder + " can be written"));
  // A path that only passes through the folder.
  CHECK_THAT(refusal(open_folder + "/../group.so"), ContainsSubstring("can be written"));
}

TEST_CASE("a library of another user is not trusted") {
  if (::geteuid() != 0) MPIACQ_SKIP("only root can give files away");
  const private_folder folder;
  if (folder.path.empty()) MPIACQ_SKIP("no folder here that only its owner can write, up to the root");
  const std::string file = folder.library("lib.so");
  REQUIRE(::chown(file.c_str(), 65534, 65534) == 0);
  CHECK_THAT(refusal(file), ContainsSubstring("lib.so belongs to user 65534"));
  // The library is trusted for a job of that user.
  CHECK(queue_library_trust(file, 65534));
}

TEST_CASE("a file that is no library is refused before any code runs") {
  CHECK(open_library("/nowhere/lib.so", ::geteuid(), true).error().code == error_code::not_found);
  CHECK(open_library("/etc/passwd", ::geteuid(), true).error().code == error_code::bad_format);
  CHECK(open_library("/tmp", ::geteuid(), true).error().code == error_code::bad_format);
  CHECK(open_library("/dev/null", ::geteuid(), true).error().code == error_code::bad_format);
  CHECK(open_library("/etc/passwd/lib.so", ::geteuid(), true).error().code == error_code::not_found);
}

TEST_CASE("the error says that a library has another width") {
  std::string pattern = "/tmp/mpiacq-width-XXXXXX";
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  const std::string file = pattern + "/lib.so";
  fs::copy_file(MPIACQ_QUEUE_LIBRARIES "/libqueue_perfect.so", file);
  {
    std::fstream change(file, std::ios::in | std::ios::out | std::ios::binary);
    change.seekp(4);
    change.put(1);  // ELFCLASS32
  }
  const auto opened = open_library(file, ::geteuid(), true);
  REQUIRE_FALSE(opened);
  CHECK_THAT(opened.error().message, ContainsSubstring("another machine or width"));
  fs::remove_all(pattern);
}

TEST_CASE("loading an untrusted library on request gives a warning") {
  std::string pattern = "/tmp/mpiacq-spite-XXXXXX";
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  const std::string file = pattern + "/lib.so";
  fs::copy_file(MPIACQ_QUEUE_LIBRARIES "/libqueue_perfect.so", file);
  ::chmod(file.c_str(), 0777);
  CHECK_FALSE(open_library(file, ::geteuid(), false));
  const auto opened = open_library(file, ::geteuid(), true);
  REQUIRE(opened);
  CHECK_THAT(opened->warning, ContainsSubstring("loaded although"));
  fs::remove_all(pattern);
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "proc/known_processes.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "catch.hpp"
#include "open_descriptors.hpp"

using namespace mpiacq;
using mpiacq::test::open_descriptors;

namespace {

/// A folder in the form of /proc.
class made_up_processes {
 public:
  made_up_processes() {
    std::string pattern = std::filesystem::temp_directory_path() / "made-up-processes-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
  }
  ~made_up_processes() { std::filesystem::remove_all(root_); }
  made_up_processes(const made_up_processes&) = delete;
  made_up_processes& operator=(const made_up_processes&) = delete;
  void put(int pid, int parent, const std::string& environment = {}) {
    const std::string folder = root_ + "/" + std::to_string(pid);
    std::filesystem::create_directory(folder);
    std::ofstream(folder + "/stat") << pid << " (x) S " << parent << " 5 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 99 0 0\n";
    std::ofstream(folder + "/environ") << environment;
  }
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  std::string root_;
};

}  // namespace

TEST_CASE("the ancestors of a process are its parent and the parents of that one, without process 1") {
  made_up_processes proc;
  proc.put(1, 0);
  proc.put(7, 1);
  proc.put(8, 7);
  proc.put(9, 8);
  known_processes all(proc.root());
  CHECK(all.ancestors_of(process_id{9}) == std::vector{process_id{8}, process_id{7}});
  CHECK(all.ancestors_of(process_id{7}).empty());
  CHECK(all.ancestors_of(process_id{55}).empty());
}

TEST_CASE("processes that are each other's parents have a limited number of ancestors") {
  made_up_processes proc;
  proc.put(7, 8);
  proc.put(8, 7);
  CHECK(known_processes(proc.root()).ancestors_of(process_id{7}).size() == 64);
}

TEST_CASE("a process is read once, and the absence of a process is remembered too") {
  made_up_processes proc;
  proc.put(7, 1);
  known_processes all(proc.root());
  const auto first = all.find(process_id{7});
  REQUIRE(first);
  CHECK(all.find(process_id{8}) == nullptr);
  proc.put(8, 1);
  proc.put(7, 8);
  CHECK(all.find(process_id{7}) == first);
  CHECK(first->parent() == process_id{1});
  CHECK(all.find(process_id{8}) == nullptr);
}

TEST_CASE("the facts of many processes use a limited number of descriptors and stay available") {
  made_up_processes proc;
  constexpr int count = 300;
  for (int pid = 2; pid < count; ++pid) proc.put(pid, 1, "NUMBER=" + std::to_string(pid));
  const std::size_t before = open_descriptors();
  known_processes all(proc.root());
  for (int pid = 2; pid < count; ++pid) REQUIRE(all.find(process_id{pid}));
  CHECK(open_descriptors() <= before + 64);
  CHECK(all.find(process_id{2})->variable("NUMBER") == "2");
}

TEST_CASE("all processes are the folders whose names are numbers") {
  made_up_processes proc;
  proc.put(7, 1);
  proc.put(12, 1);
  std::filesystem::create_directory(proc.root() + "/self");
  std::filesystem::create_directory(proc.root() + "/12x");
  auto found = known_processes(proc.root()).all();
  std::sort(found.begin(), found.end());
  CHECK(found == std::vector{process_id{7}, process_id{12}});
  const auto real = known_processes().all();
  CHECK(std::find(real.begin(), real.end(), process_id{::getpid()}) != real.end());
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The PMIx libraries of fixtures/pmix where they are trusted, and starters that map them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "catch.hpp"
#include "helper/library_file.hpp"
#include "live_process.hpp"
#include "run_command.hpp"
#include "server/pmix_server.hpp"

namespace mpiacq::test {

/// A folder that only its owner can write, below a folder of that kind: below /tmp no library would be trusted.
class trusted_folder {
 public:
  trusted_folder() {
    const char* const home = std::getenv("HOME");
    for (const char* base : {home, "/root", "/var/lib", "/run"}) {
      if (base == nullptr) continue;
      std::string pattern = std::string(base) + "/mpiacq-pmix-XXXXXX";
      if (::mkdtemp(pattern.data()) == nullptr) continue;
      path_ = pattern;
      if (base::check_trust(copy_of("usual"), ::geteuid())) return;
      std::filesystem::remove_all(path_);
      path_.clear();
    }
  }
  ~trusted_folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  trusted_folder(const trusted_folder&) = delete;
  trusted_folder& operator=(const trusted_folder&) = delete;

  [[nodiscard]] bool is_there() const { return !path_.empty(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// The library of this name, copied into this folder.
  [[nodiscard]] std::string copy_of(const std::string& name) const {
    const std::string folder = path_ + "/" + name;
    std::filesystem::create_directory(folder);
    std::string copy = folder + "/libpmix.so";
    std::filesystem::copy_file(std::string(MPIACQ_PMIX) + "/" + name + "/libpmix.so", copy,
                               std::filesystem::copy_options::skip_existing);
    std::filesystem::permissions(copy, std::filesystem::perms(0755));
    return copy;
  }

 private:
  std::string path_;
};

#define REQUIRE_TRUSTED(folder) \
  if (!(folder).is_there()) MPIACQ_SKIP("there is no folder in which libraries of the test would be trusted")

/// A server that this process itself stands for, with a library of the fixtures.
inline pmix::pmix_server fake_server(const std::string& library, const std::string& habit,
                                     const std::string& pids = "11,12", const std::string& version = "5.0.7a1") {
  auto self = process_facts::open(process_id{::getpid()});
  REQUIRE(self);
  return {std::make_shared<const process_facts>(std::move(*self)), library, habit + ".0;fake://" + pids, version};
}

/// A starter that is a PMIx server, with ranks. `TMPDIR` of the starter is below `folder`.
class running_server {
 public:
  running_server(const trusted_folder& folder, const std::string& library, const std::string& habit, int ranks,
                 const std::string& version = "5.0.7a1")
      : process_({"env", "TMPDIR=" + folder.path(), std::string(MPIACQ_PMIX) + "/prterun", library, habit,
                  std::to_string(ranks), version}) {
    REQUIRE(process_.next_line() == "ready");
  }
  [[nodiscard]] process_id pid() const { return process_.pid(); }

 private:
  live_process process_;
};

/// State and tracer of a process: "S 0".
inline std::string state_of_process(process_id pid) {
  std::ifstream status("/proc/" + std::to_string(pid.value()) + "/status");
  std::string state, tracer;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("State:")) state = line.substr(7, 1);
    if (line.starts_with("TracerPid:")) tracer = line.substr(11);
  }
  return state + " " + tracer;
}

/// A process that its tracer has left runs, or is stopped, when the kernel gives it a processor.
inline bool comes_to(process_id pid, const std::string& state) {
  return comes_true([&] { return state_of_process(pid) == state; });
}

}  // namespace mpiacq::test

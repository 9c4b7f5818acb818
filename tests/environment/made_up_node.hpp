// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A folder that looks like /proc, with the processes that a test puts into it.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "catch.hpp"

namespace mpiacq::test {

/// One process of the folder.
struct made_up_process {
  int pid = 0;
  int parent = 1;
  std::string executable = "/usr/bin/app";
  std::vector<std::string> environment = {};
  std::vector<std::string> arguments = {};
  int user = 1000;
  int start_time = 0;  ///< 0: its pid
};

class made_up_node {
 public:
  made_up_node() {
    std::string pattern = std::filesystem::temp_directory_path() / "made-up-node-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
  }
  ~made_up_node() { std::filesystem::remove_all(root_); }
  made_up_node(const made_up_node&) = delete;
  made_up_node& operator=(const made_up_node&) = delete;

  void put(const made_up_process& process) const {
    const std::string folder = root_ + "/" + std::to_string(process.pid);
    std::filesystem::create_directory(folder);
    const int start = process.start_time == 0 ? process.pid : process.start_time;
    const std::string name = process.executable.substr(process.executable.rfind('/') + 1).substr(0, 15);
    std::ofstream(folder + "/stat") << process.pid << " (" << name << ") S " << process.parent
                                    << " 5 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " << start << " 0 0\n";
    std::ofstream(folder + "/status") << "Name:\t" << name << "\nUid:\t" << process.user << "\t" << process.user << "\t"
                                      << process.user << "\t" << process.user << "\n";
    std::ofstream(folder + "/environ") << strings(process.environment);
    std::ofstream(folder + "/cmdline") << strings(process.arguments);
    std::filesystem::create_symlink(process.executable, folder + "/exe");
  }
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  static std::string strings(const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& one : all) (text += one) += '\0';
    return text;
  }
  std::string root_;
};

/// The variables of each launcher, for a rank of a job.
inline std::vector<std::string> hydra(int rank, int size) {
  return {"PMI_RANK=" + std::to_string(rank), "PMI_SIZE=" + std::to_string(size)};
}
inline std::vector<std::string> torchrun(int rank, int size, const std::string& run = "none") {
  return {"RANK=" + std::to_string(rank), "WORLD_SIZE=" + std::to_string(size), "MASTER_ADDR=n1", "MASTER_PORT=29500",
          "TORCHELASTIC_RUN_ID=" + run};
}
inline std::vector<std::string> slurm(int rank, int size, const std::string& job = "42",
                                      const std::string& step = "0") {
  return {"SLURM_JOB_ID=" + job, "SLURM_STEP_ID=" + step, "SLURM_PROCID=" + std::to_string(rank),
          "SLURM_STEP_NUM_TASKS=" + std::to_string(size)};
}
inline std::vector<std::string> open_mpi(int rank, int size, const std::string& job) {
  return {"OMPI_COMM_WORLD_RANK=" + std::to_string(rank), "OMPI_COMM_WORLD_SIZE=" + std::to_string(size),
          "PMIX_RANK=" + std::to_string(rank), "PMIX_NAMESPACE=" + job};
}
inline std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace mpiacq::test

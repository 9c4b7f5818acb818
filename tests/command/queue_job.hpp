// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A fixture job whose ranks have the queues that a test spells out, and `mpiacq queues` on it.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "running_starter.hpp"

namespace mpiacq::test {

inline std::string queue_library(const std::string& name) {
  return std::string(MPIACQ_QUEUE_LIBRARIES) + "/libqueue_" + name + ".so";
}

/// queue_job, which has announced its ranks and waits. Each names the perfect library, unless the words say otherwise.
class queue_job : public running_starter {
 public:
  /// `program` is one of the builds of queue_job. One with a short name has no room for the perfect library's.
  explicit queue_job(int ranks, const std::vector<std::string>& words, const std::vector<std::string>& options = {},
                     const std::string& program = "queue_job")
      : running_starter(line(ranks, words, options, program)) {
    ready();
  }

 private:
  static std::vector<std::string> line(int ranks, const std::vector<std::string>& words,
                                       const std::vector<std::string>& options, const std::string& program) {
    std::vector<std::string> all = {"../queue_ranks/" + program, "--hold", "--ranks", std::to_string(ranks)};
    all.insert(all.end(), options.begin(), options.end());
    if (program != "queue_job_short_name") all.push_back("library:" + queue_library("perfect"));
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }
};

/// The fixtures' libraries lie where others may write (below /tmp), so they are trusted by order.
inline command_outcome queues(long pid, std::vector<std::string> options = {}) {
  options.insert(options.begin(), {MPIACQ_COMMAND, "queues", "--trust-library"});
  options.push_back(std::to_string(pid));
  command_options how;
  how.limit = std::chrono::seconds(60);
  return run_command(options, how);
}

/// Two ranks that each wait in a receive for the other.
inline std::vector<std::string> words_of_a_deadlock() {
  return {"in:MPI_Recv", "@0", "receive:world:1:7:64", "@1", "receive:world:0:8:32", "@all"};
}

}  // namespace mpiacq::test

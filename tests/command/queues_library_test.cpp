// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Which queue library is loaded, and when none is.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "queue_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

/// A folder that the ranks' dynamic linker searches, with the perfect library under another name.
class searched_folder {
 public:
  explicit searched_folder(const std::string& name) {
    std::filesystem::copy_file(queue_library("perfect"), file(name));
    ::setenv("LD_LIBRARY_PATH", folder_.path("").c_str(), 1);
  }
  ~searched_folder() { ::unsetenv("LD_LIBRARY_PATH"); }
  searched_folder(const searched_folder&) = delete;
  searched_folder& operator=(const searched_folder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const {
    return std::filesystem::path(folder_.path(name)).lexically_normal();
  }

 private:
  scratch_folder folder_;
};

void check_library(const queue_job& job, const std::string& file) {
  const auto run = queues(job.pid(), {"--json"});
  INFO(run.err << run.out);
  const json seen = json::parse(run.out);
  REQUIRE(seen.at("library").is_object());
  CHECK(std::filesystem::path(seen.at("library").at("path").get<std::string>()).lexically_normal() == file);
  CHECK(seen.at("cycles") == json::array({json::array({0, 1})}));
  // The job's report names the same file.
  const auto attached = run_command({MPIACQ_COMMAND, "attach", "--json", std::to_string(job.pid())});
  INFO(attached.err << attached.out);
  const json report = json::parse(attached.out);
  CHECK(std::filesystem::path(report.at("queue_library").get<std::string>()).lexically_normal() == file);
}

}  // namespace

TEST_CASE("queues: a name of eight bytes in MPIR_dll_name is an array, and is searched as the rank's linker would") {
  const searched_folder folder("libq.so");
  auto words = words_of_a_deadlock();
  words.insert(words.begin(), "library:libq.so");
  const queue_job job(2, words, {}, "queue_job_short_name");
  check_library(job, folder.file("libq.so"));
}

TEST_CASE("queues: a bare name that only the dynamic linker's cache contains is found there") {
  if (::geteuid() != 0) MPIACQ_SKIP("only root can give a command another cache of the dynamic linker");
  const scratch_folder folder;
  const std::string library = std::filesystem::path(folder.path("libqueue_perfect.so")).lexically_normal();
  std::filesystem::copy_file(queue_library("perfect"), library);
  std::ofstream(folder.path("conf")) << std::filesystem::path(folder.path("")).lexically_normal().string() << "\n";
  const auto made = run_command({"ldconfig", "-X", "-f", folder.path("conf"), "-C", folder.path("cache")});
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
  auto words = words_of_a_deadlock();
  words.insert(words.begin(), "library:libqueue_perfect.so");
  // Without that cache the name leads nowhere.
  const queue_job without(2, words);
  CHECK(json::parse(queues(without.pid(), {"--json"}).out).at("library").is_null());
  // The cache that counts is the one that the rank's linker sees.
  std::vector<std::string> line = {"unshare",
                                   "-m",
                                   "sh",
                                   "-c",
                                   "mount --bind \"$1\" /etc/ld.so.cache && shift && exec \"$@\"",
                                   "sh",
                                   folder.path("cache"),
                                   MPIACQ_STARTERS "/../queue_ranks/queue_job",
                                   "--hold",
                                   "--ranks",
                                   "2"};
  line.insert(line.end(), words.begin(), words.end());
  ::setenv("MPIACQ_ORACLE", folder.path("oracle").c_str(), 1);
  live_process job(line);
  ::unsetenv("MPIACQ_ORACLE");
  (void)job.lines_until_ready();
  const auto run = queues(job.pid().value(), {"--json"});
  INFO(run.err << run.out);
  const json seen = json::parse(run.out);
  REQUIRE(seen.at("library").is_object());
  CHECK(seen.at("library").at("path") == library);
  CHECK(seen.at("cycles") == json::array({json::array({0, 1})}));
}

TEST_CASE("queues: an MPI that names no library has the library that debuggers look for") {
  const searched_folder folder("libtvmpich.so");
  const queue_job job(2, words_of_a_deadlock(), {}, "queue_job_short_name");
  check_library(job, folder.file("libtvmpich.so"));
}

TEST_CASE("queues: a starter with MPIR_ignore_queues has no queue library loaded, and the report says why") {
  const std::string program = GENERATE("queue_job_ignore", "queue_job_Ignore");
  auto words = words_of_a_deadlock();
  // If it were loaded, the report would tell of its end.
  words.push_back("library:" + queue_library("crash"));
  const queue_job job(2, words, {}, program);
  const auto run = queues(job.pid(), {"--json"});
  INFO(run.err << run.out);
  CHECK(run.exit_code == 1);
  const json seen = json::parse(run.out);
  CHECK(seen.at("library").is_null());
  CHECK(seen.at("deadlocks").empty());
  for (const json& rank : seen.at("ranks")) {
    REQUIRE(rank.at("problems").size() == 1);
    CHECK_THAT(rank.at("problems").at(0).get<std::string>(), ContainsSubstring("MPIR_ignore_queues"));
    CHECK(rank.at("call") == "MPI_Recv");
  }
  const auto text = queues(job.pid());
  CHECK_THAT(text.out, ContainsSubstring("ranks 0-1: in MPI_Recv") && ContainsSubstring("MPIR_ignore_queues"));
  const auto selected =
      run_command({MPIACQ_COMMAND, "stacks", "--ranks", "comm:MPI_COMM_WORLD", std::to_string(job.pid())});
  CHECK(selected.exit_code == 125);
  CHECK_THAT(selected.err, ContainsSubstring("MPIR_ignore_queues"));
  const auto attached =
      run_command({MPIACQ_COMMAND, "attach", "--queues", "--trust-library", std::to_string(job.pid())});
  INFO(attached.err << attached.out);
  CHECK_THAT(attached.out + attached.err, ContainsSubstring("MPIR_ignore_queues"));
  CHECK_THAT(attached.out + attached.err, !ContainsSubstring("crash"));
  // A library that the user names is asked all the same. The libraries themselves look for their own spelling in the
  // ranks, which are of the starter's program here.
  if (program == "queue_job_Ignore") return;
  const auto named = queues(job.pid(), {"--json", "--library", queue_library("perfect")});
  CHECK(json::parse(named.out).at("cycles") == json::array({json::array({0, 1})}));
}

TEST_CASE("queues: without a queue library the report says what the stacks show") {
  const queue_job job(3, {"in:MPI_Barrier", "@2", "in:MPI_Recv", "@all", "library:/nowhere/libq.so"});
  const auto run = queues(job.pid());
  INFO(run.err << run.out);
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.out, ContainsSubstring("ranks 0-1: in MPI_Barrier") && ContainsSubstring("rank 2: in MPI_Recv") &&
                          ContainsSubstring("rank 2 has not come to MPI_Barrier, which ranks 0-1 are in"));
  const json seen = json::parse(queues(job.pid(), {"--json"}).out);
  CHECK(seen.at("collective_gaps") == json::array({json{{"call", "MPI_Barrier"}, {"ranks", "0-1"}, {"missing", "2"}}}));
}

TEST_CASE("queues: a rank that waits for a rank in MPI_Finalize is a deadlock that names both") {
  const queue_job job(2, {"in:MPI_Finalize", "@0", "in:MPI_Recv", "receive:world:1:7:64", "@all"});
  const auto run = queues(job.pid());
  INFO(run.err << run.out);
  CHECK_THAT(run.out, ContainsSubstring("DEADLOCK: rank 0 waits for rank 1, which is in MPI_Finalize"));
  const json seen = json::parse(queues(job.pid(), {"--json"}).out);
  CHECK(seen.at("cycles") == json::array({json::array({0, 1})}));
  CHECK(seen.at("deadlocks").at(0).at("in_finalize") == "1");
}

namespace {

/// The command line of a program whose root is a folder that no other process sees: everything of this root is mounted
/// in it, and `/only-inside` has the perfect library.
std::vector<std::string> with_root_of_its_own(const std::string& folder, const std::vector<std::string>& program) {
  std::vector<std::string> line = {
      "unshare",
      "--mount",
      "--propagation",
      "private",
      "sh",
      "-c",
      "mount -t tmpfs none \"$1\" && cd \"$1\" || exit 1\n"
      "for top in /*; do\n"
      "  if [ -L \"$top\" ]; then cp -P \"$top\" \".$top\"; continue; fi\n"
      "  [ -d \"$top\" ] || continue\n"
      "  mkdir \".$top\" && mount --rbind \"$top\" \".$top\" || exit 1\n"
      "done\n"
      "mkdir only-inside && cp \"$2\" only-inside/libinside.so && shift 2 && exec chroot . \"$@\"",
      "sh",
      folder,
      queue_library("perfect")};
  line.insert(line.end(), program.begin(), program.end());
  return line;
}

}  // namespace

TEST_CASE("queues: the library of a rank with a root of its own is the file below that root") {
  if (::geteuid() != 0) MPIACQ_SKIP("only root can give a process another root");
  const scratch_folder folder;
  const std::string root = folder.path("root");
  std::filesystem::create_directory(root);
  std::vector<std::string> program = {MPIACQ_STARTERS "/../queue_ranks/queue_job", "--hold", "--ranks", "2",
                                      "library:/only-inside/libinside.so"};
  for (const std::string& word : words_of_a_deadlock()) program.push_back(word);
  ::setenv("MPIACQ_ORACLE", folder.path("oracle").c_str(), 1);
  live_process job(with_root_of_its_own(root, program));
  ::unsetenv("MPIACQ_ORACLE");
  (void)job.lines_until_ready();
  REQUIRE_FALSE(std::filesystem::exists("/only-inside"));
  const auto run = queues(job.pid().value(), {"--json"});
  INFO(run.err << run.out);
  const json seen = json::parse(run.out);
  REQUIRE(seen.at("library").is_object());
  CHECK(seen.at("library").at("path") == "/only-inside/libinside.so");
  CHECK(seen.at("cycles") == json::array({json::array({0, 1})}));
  // The way to the file begins at that root: a mount of tmpfs that all users may write into.
  const auto unasked = run_command({MPIACQ_COMMAND, "queues", std::to_string(job.pid().value())});
  INFO(unasked.err << unasked.out);
  CHECK_THAT(unasked.out, ContainsSubstring("/only-inside/libinside.so is not loaded") &&
                              ContainsSubstring("/ can be written by all users"));
  (void)job.end();
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A command in a tree of another release (debian_tree beside this file).
#include <csignal>
#include <filesystem>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "another_user.hpp"
#include "real_job.hpp"
#include "running_job.hpp"

using namespace mpiacq::test;

namespace {

constexpr int tree_cannot_be = 77;

command_options with_folder(const std::string& writable) {
  command_options how;
  how.environment = {{"MPIACQ_TREE_MAKE", "no"}, {"MPIACQ_TREE_WRITABLE", writable}};
  return how;
}

command_outcome in_tree(const std::string& script, const std::vector<std::string>& arguments = {},
                        const std::string& writable = "") {
  std::vector<std::string> line = {MPIACQ_DEBIAN_TREE, "trixie", "sh", "-c", script};
  line.insert(line.end(), arguments.begin(), arguments.end());
  return run_command(line, with_folder(writable));
}

}  // namespace

TEST_CASE("debian_tree: a command in the tree sees that release, and its status is kept") {
  const auto run = in_tree(". /etc/os-release; echo $VERSION_CODENAME $MPIACQ_TREE_RELEASE; exit 5");
  if (run.exit_code == tree_cannot_be) MPIACQ_SKIP(run.err);
  CHECK(run.exit_code == 5);
  CHECK(run.out == "trixie trixie\n");
  // Neither the tree nor the project can be changed from inside, and what is written to /tmp stays inside.
  CHECK(in_tree("touch /usr/new || touch \"$0/new\" || exit 6", {MPIACQ_RANK_SOURCES}).exit_code == 6);
  const scratch_folder inside;
  const std::string file = inside.path("new");
  CHECK(in_tree("mkdir -p \"${0%/*}\" && touch \"$0\"", {file}).exit_code == 0);
  CHECK_FALSE(std::filesystem::exists(file));
  CHECK(in_tree("touch \"$0\"", {file}, inside.path("")).exit_code == 0);
  CHECK(std::filesystem::exists(file));
}

TEST_CASE("debian_tree: it needs root, and the name of a release") {
  if (::geteuid() == 0) {
    MPIACQ_NEEDS_ANOTHER_USER();
  }
  command_options how;
  how.as_nobody = true;
  const auto run = run_command({MPIACQ_DEBIAN_TREE, "trixie", "true"}, how);
  CHECK(run.exit_code == tree_cannot_be);
  CHECK_THAT(run.err, ContainsSubstring("skipped: a tree is made and entered by root"));
  CHECK(run_command({MPIACQ_DEBIAN_TREE, "../trixie", "true"}).exit_code == 70);
}

TEST_CASE("debian_tree: when it is killed, no process is left in the tree") {
  if (const auto run = in_tree("true"); run.exit_code == tree_cannot_be) MPIACQ_SKIP(run.err);
  const int signal = GENERATE(SIGKILL, SIGTERM);
  const scratch_folder folder;
  const std::string fifo = folder.path("fifo");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ::setenv("MPIACQ_TREE_WRITABLE", folder.path("").c_str(), 1);
  // Two processes, one of them in a session of its own, hold the FIFO open.
  const pid_t tree = start_process(
      {MPIACQ_DEBIAN_TREE, "trixie", "sh", "-c", "exec >\"$0\"; setsid sleep 600 & echo up; exec sleep 600", fifo});
  ::unsetenv("MPIACQ_TREE_WRITABLE");
  pollfd event = {reader, POLLIN, 0};
  REQUIRE(::poll(&event, 1, static_cast<int>(std::chrono::milliseconds{patience}.count())) == 1);
  char bytes[16];
  CHECK(::read(reader, bytes, sizeof bytes) == 3);
  ::kill(tree, signal);
  int status = 0;
  CHECK(wait_for_process(tree, status, patience));
  // The kernel closes the FIFO with the last process that has it.
  CHECK(::poll(&event, 1, static_cast<int>(std::chrono::milliseconds{patience}.count())) == 1);
  CHECK(::read(reader, bytes, sizeof bytes) == 0);
  ::close(reader);
}

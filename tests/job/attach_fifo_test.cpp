// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The attach FIFO on real files. This process, or a child of it, stands for the starter.
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"
#include "descriptors/unique_fd.hpp"
#include "mpiacq/job/job.hpp"
#include "run_command.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

const process_id self{::getpid()};

std::string make_fifo(const scratch_folder& folder, const std::string& name = "fifo") {
  REQUIRE(::mkfifo(folder.path(name).c_str(), 0644) == 0);
  return folder.path(name);
}

base::unique_fd reader_of(const std::string& path) {
  base::unique_fd reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  REQUIRE(reader.is_open());
  return reader;
}

/// What is in a FIFO, taken out.
std::string contents(const base::unique_fd& reader) {
  char bytes[16];
  const ssize_t got = ::read(reader.get(), bytes, sizeof bytes);
  return got > 0 ? std::string(bytes, static_cast<std::size_t>(got)) : "";
}

/// A child that prepares itself, says so, and waits until it is let go; it ends with 0 where its preparation worked.
class child {
 public:
  explicit child(const std::function<bool()>& prepare) {
    REQUIRE(::pipe2(said_, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(told_, O_CLOEXEC) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(told_[1]);
      const char answer = prepare() ? 'y' : 'n';
      char byte = 0;
      if (::write(said_[1], &answer, 1) == 1) (void)!::read(told_[0], &byte, 1);
      ::_exit(0);
    }
    ::close(std::exchange(said_[1], -1));
    char answer = 'n';
    (void)!::read(said_[0], &answer, 1);
    is_ready_ = answer == 'y';
  }
  ~child() { end(); }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  void end() {
    if (pid_ <= 0) return;
    ::close(told_[1]);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
    ::close(told_[0]);
    ::close(said_[0]);
  }
  [[nodiscard]] process_id pid() const { return process_id{pid_}; }
  [[nodiscard]] bool is_ready() const { return is_ready_; }

 private:
  pid_t pid_ = -1;
  int said_[2] = {-1, -1};
  int told_[2] = {-1, -1};
  bool is_ready_ = false;
};

}  // namespace

TEST_CASE("the byte 1 arrives, once, and the FIFO's reader has nothing else") {
  const scratch_folder folder;
  const std::string path = make_fifo(folder);
  const base::unique_fd reader = reader_of(path);
  const auto kicked = kick_attach_fifo(path, self);
  if (!kicked) FAIL(kicked.error().message);
  CHECK(contents(reader) == "\1");
  CHECK(contents(reader).empty());
}

TEST_CASE("a FIFO without a reader gives an error at once") {
  const scratch_folder folder;
  const std::string path = make_fifo(folder);
  const error why = kick_attach_fifo(path, self).error();
  CHECK(why.code == error_code::busy);
  CHECK(why.system_errno == ENXIO);
  CHECK(why.path == path);
  CHECK_THAT(why.message, ContainsSubstring(path) && ContainsSubstring("has no reader"));
}

TEST_CASE("a full FIFO gives an error at once, and loses none of its bytes") {
  const scratch_folder folder;
  const std::string path = make_fifo(folder);
  const base::unique_fd reader = reader_of(path);
  const base::unique_fd writer(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  ssize_t held = 0;
  for (ssize_t n = 1; n > 0; held += n) {
    n = ::write(writer.get(), "x", 1);
    if (n < 0) break;
  }
  const error why = kick_attach_fifo(path, self).error();
  CHECK(why.code == error_code::busy);
  CHECK(why.system_errno == EAGAIN);
  CHECK(contents(reader) == std::string(16, 'x'));
  CHECK(held >= 4096);
}

TEST_CASE("a link to a FIFO is not followed, a link on the way is") {
  const scratch_folder folder;
  const std::string path = make_fifo(folder);
  const base::unique_fd reader = reader_of(path);
  REQUIRE(::symlink(path.c_str(), folder.path("link").c_str()) == 0);
  const error why = kick_attach_fifo(folder.path("link"), self).error();
  CHECK(why.code == error_code::permission);
  CHECK_THAT(why.message, ContainsSubstring("is a symbolic link"));
  CHECK(contents(reader).empty());

  REQUIRE(::symlink(".", folder.path("here").c_str()) == 0);
  CHECK(kick_attach_fifo(folder.path("here/fifo"), self).has_value());
  CHECK(contents(reader) == "\1");
}

TEST_CASE("a path that is not a FIFO is neither opened nor changed") {
  const scratch_folder folder;
  const std::string path = folder.path("file");
  const base::unique_fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  REQUIRE(::write(file.get(), "kept", 4) == 4);
  SECTION("a file") {
    CHECK(kick_attach_fifo(path, self).error().code == error_code::bad_format);
    CHECK(file_contents(path) == "kept");
  }
  SECTION("a folder") {
    CHECK(kick_attach_fifo(folder.path(""), self).error().code == error_code::bad_format);
  }
  SECTION("a device") {
    CHECK(kick_attach_fifo("/dev/null", self).error().code == error_code::bad_format);
  }
  SECTION("the root") {
    CHECK_FALSE(kick_attach_fifo("/", self).has_value());
  }
  SECTION("nothing") {
    const error why = kick_attach_fifo(folder.path("none"), self).error();
    CHECK(why.code == error_code::not_found);
    CHECK(why.system_errno == ENOENT);
    CHECK(::access(folder.path("none").c_str(), F_OK) != 0);
  }
  SECTION("no name") {
    CHECK(kick_attach_fifo("", self).error().code == error_code::not_found);
  }
  SECTION("a descriptor of ours under another name") {
    const std::string magic = "/proc/self/fd/" + std::to_string(file.get());
    CHECK_FALSE(kick_attach_fifo(magic, self).has_value());
    CHECK(file_contents(path) == "kept");
  }
}

TEST_CASE("a FIFO that belongs to another user is not written to") {
  if (::geteuid() != 0) MPIACQ_SKIP("only root can give a FIFO away");
  const scratch_folder folder;
  const std::string path = make_fifo(folder);
  const base::unique_fd reader = reader_of(path);
  SECTION("the starter is ours, the FIFO is not") {
    REQUIRE(::chown(path.c_str(), 65534, 65534) == 0);
    const error why = kick_attach_fifo(path, self).error();
    CHECK(why.code == error_code::permission);
    CHECK_THAT(why.message, ContainsSubstring("belongs to user 65534, and the starter runs as user 0"));
  }
  SECTION("the FIFO is ours, the starter is not") {
    const child starter([] { return ::setresuid(65534, 65534, 65534) == 0; });
    REQUIRE(starter.is_ready());
    CHECK_THAT(kick_attach_fifo(path, starter.pid()).error().message,
               ContainsSubstring("belongs to user 0, and the starter runs as user 65534"));
  }
  CHECK(contents(reader).empty());
}

TEST_CASE("root writes into the FIFO of another user's starter") {
  if (::geteuid() != 0) MPIACQ_SKIP("only root can give a FIFO away");
  const scratch_folder folder;
  const std::string path = make_fifo(folder);
  const base::unique_fd reader = reader_of(path);
  REQUIRE(::chown(path.c_str(), 65534, 65534) == 0);
  const child starter([] { return ::setresuid(65534, 65534, 65534) == 0; });
  REQUIRE(starter.is_ready());
  CHECK(kick_attach_fifo(path, starter.pid()).has_value());
  CHECK(contents(reader) == "\1");
}

TEST_CASE("the path is looked up in the starter's mount namespace") {
  if (::geteuid() != 0) MPIACQ_SKIP("only root can make a mount namespace");
  const scratch_folder folder;
  const std::string path = make_fifo(folder);
  const base::unique_fd ours = reader_of(path);
  int out[2];
  REQUIRE(::pipe2(out, O_CLOEXEC | O_NONBLOCK) == 0);
  const std::string inside = path.substr(0, path.rfind('/'));
  const child starter([&] {
    return ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount("none", inside.c_str(), "tmpfs", 0, nullptr) == 0 && ::mkfifo(path.c_str(), 0600) == 0 &&
           ::open(path.c_str(), O_RDONLY | O_NONBLOCK) >= 0;
  });
  if (!starter.is_ready()) MPIACQ_SKIP("no mount namespace can be made here");
  CHECK(kick_attach_fifo(path, starter.pid()).has_value());
  CHECK(contents(ours).empty());
  const std::string theirs = "/proc/" + std::to_string(starter.pid().value()) + "/root" + path;
  CHECK(contents(reader_of(theirs)) == "\1");
}

TEST_CASE("the path and its links are looked up below the starter's root") {
  if (::geteuid() != 0) MPIACQ_SKIP("only root can change its root");
  const scratch_folder folder;
  const std::string path = make_fifo(folder);
  const base::unique_fd reader = reader_of(path);
  const std::string root = path.substr(0, path.rfind('/'));
  REQUIRE(::symlink("/", folder.path("top").c_str()) == 0);
  const child starter([&] { return ::chroot(root.c_str()) == 0 && ::chdir("/") == 0; });
  REQUIRE(starter.is_ready());
  CHECK(kick_attach_fifo("/fifo", starter.pid()).has_value());
  CHECK(kick_attach_fifo("//top/../fifo", starter.pid()).has_value());
  CHECK(kick_attach_fifo("fifo", starter.pid()).has_value());
  CHECK(contents(reader) == "\1\1\1");
}

TEST_CASE("a reader that closes the FIFO during the write causes no SIGPIPE") {
  const scratch_folder folder;
  const std::string path = make_fifo(folder);
  std::atomic<bool> done{false};
  std::thread restless([&] {
    while (!done) ::close(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  });
  int left_early = 0;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (left_early == 0 && std::chrono::steady_clock::now() < until) {
    const auto kicked = kick_attach_fifo(path, self);
    if (!kicked && kicked.error().system_errno == EPIPE) ++left_early;
  }
  done = true;
  restless.join();
  if (left_early == 0) MPIACQ_SKIP("the reader never left between open and write");
  sigset_t pending;
  REQUIRE(::sigpending(&pending) == 0);
  CHECK(::sigismember(&pending, SIGPIPE) == 0);
}

TEST_CASE("a starter that has ended gives process_gone") {
  const scratch_folder folder;
  const std::string path = make_fifo(folder);
  const base::unique_fd reader = reader_of(path);
  child starter([] { return true; });
  const process_id pid = starter.pid();
  starter.end();
  CHECK(kick_attach_fifo(path, pid).error().code == error_code::process_gone);
  CHECK(contents(reader).empty());
}

TEST_CASE("a tool that may not write the FIFO gets a permission error") {
  if (::geteuid() != 0) MPIACQ_SKIP("only root can give rights away");
  const scratch_folder folder;
  const std::string path = make_fifo(folder);
  REQUIRE(::chmod(path.c_str(), 0444) == 0);
  REQUIRE(::chown(path.c_str(), 65534, 65534) == 0);
  const base::unique_fd reader = reader_of(path);
  // The child is tool and starter at once, and may not write what it owns.
  const child tool([&] {
    if (::chmod(path.substr(0, path.rfind('/')).c_str(), 0755) != 0) return false;
    if (::setresuid(65534, 65534, 65534) != 0) return false;
    const auto kicked = kick_attach_fifo(path, process_id{::getpid()});
    return !kicked && kicked.error().code == error_code::permission;
  });
  CHECK(tool.is_ready());
  CHECK(contents(reader).empty());
}

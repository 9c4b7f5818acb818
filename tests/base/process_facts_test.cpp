// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Facts of processes, compared with ps, with what a child says of itself, and with made-up folders.
#include "proc/process_facts.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"

using namespace mpiacq;
using namespace std::string_literals;

namespace {

/// `cat` with its own environment, killed and waited for at the end of the test. When the constructor returns, `cat`
/// has echoed a byte, so that its memory no longer changes, and is stopped.
class stopped_child {
 public:
  explicit stopped_child(std::vector<std::string> environment) {
    std::vector<char*> variables;
    for (std::string& one : environment) variables.push_back(one.data());
    variables.push_back(nullptr);
    std::array<int, 2> in{}, out{};
    REQUIRE(::pipe2(in.data(), O_CLOEXEC) == 0);
    REQUIRE(::pipe2(out.data(), O_CLOEXEC) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      std::string program = "/bin/cat", word = "-";
      const std::array<char*, 3> words = {program.data(), word.data(), nullptr};
      ::dup2(in[0], 0);
      ::dup2(out[1], 1);
      ::execve(program.c_str(), words.data(), variables.data());
      ::_exit(127);
    }
    const base::unique_fd unused_in{in[0]}, unused_out{out[1]}, from{out[0]};
    to_ = base::unique_fd{in[1]};
    char byte = 'x';
    REQUIRE(::write(to_.get(), &byte, 1) == 1);
    REQUIRE(::read(from.get(), &byte, 1) == 1);
    ::kill(pid_, SIGSTOP);
    int status = 0;
    REQUIRE(::waitpid(pid_, &status, WUNTRACED) == pid_);
    REQUIRE(WIFSTOPPED(status));
  }
  ~stopped_child() { end(); }
  void end() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    pid_ = -1;
  }
  void become_zombie() const {
    ::kill(pid_, SIGKILL);
    siginfo_t ended{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT) == 0);
  }
  [[nodiscard]] process_id id() const { return process_id{pid_}; }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  base::unique_fd to_;
};

/// The output of ps for a process, without blanks around it.
std::string ps(pid_t pid, const std::string& columns) {
  const std::string command = "ps -o " + columns + " -p " + std::to_string(pid);
  const std::unique_ptr<FILE, int (*)(FILE*)> out(::popen(command.c_str(), "r"), ::pclose);
  REQUIRE(out);
  std::string text;
  for (int c = std::fgetc(out.get()); c != EOF; c = std::fgetc(out.get())) text.push_back(static_cast<char>(c));
  const auto begin = text.find_first_not_of(" \n"), last = text.find_last_not_of(" \n");
  return begin == std::string::npos ? "" : text.substr(begin, last - begin + 1);
}

/// A folder in the form of /proc with one process, number 5.
class made_up_proc {
 public:
  made_up_proc() {
    std::string pattern = std::filesystem::temp_directory_path() / "made-up-proc-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
    std::filesystem::create_directory(root_ + "/5");
    put("stat", "5 (made up) S 4 5 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 99 0 0\n");
    put("status", "Name:\tmade up\nUid:\t1\t2\t3\t4\nNSpid:\t5\t1\n");
  }
  ~made_up_proc() { std::filesystem::remove_all(root_); }
  made_up_proc(const made_up_proc&) = delete;
  made_up_proc& operator=(const made_up_proc&) = delete;
  void put(const std::string& name, const std::string& text) {
    std::ofstream(root_ + "/5/" + name, std::ios::binary) << text;
  }
  void link(const std::string& name, const std::string& to) {
    std::filesystem::create_directories(std::filesystem::path(root_ + "/5/" + name).parent_path());
    std::filesystem::create_symlink(to, root_ + "/5/" + name);
  }
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  std::string root_;
};

ino_t own_namespace(const char* name) {
  struct stat about {};
  REQUIRE(::stat(("/proc/self/ns/"s + name).c_str(), &about) == 0);
  return about.st_ino;
}

/// Runs `work` while no descriptor can be opened.
template <class Work>
void without_descriptors(Work work) {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{3, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  work();
  ::setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace

TEST_CASE("the facts of a child agree with ps, with the child's parent and with stat(2)") {
  const stopped_child child({"FIRST=1", "PATH=/nowhere"});
  const auto facts = process_facts::open(child.id()).value();
  CHECK(facts.pid() == child.id());
  CHECK(facts.parent() == process_id{::getpid()});
  CHECK(facts.stat().name == ps(child.pid(), "comm="));
  CHECK(std::string(1, facts.stat().state) == ps(child.pid(), "s="));
  CHECK(std::to_string(facts.stat().memory_size / 1024) == ps(child.pid(), "vsz="));
  CHECK(facts.users().value().real == user_id{::getuid()});
  CHECK(facts.users().value().effective == user_id{::geteuid()});
  CHECK(std::to_string(facts.users().value().saved.value()) == ps(child.pid(), "suid="));
  CHECK(std::to_string(facts.users().value().file_system.value()) == ps(child.pid(), "fuid="));
  CHECK(facts.namespaces().value() == process_namespaces{own_namespace("pid"), own_namespace("mnt")});
  CHECK(facts.namespace_pids().value() == std::vector{child.id()});
  CHECK(std::filesystem::equivalent(facts.executable().value(), "/bin/cat"));
  CHECK(facts.environment().value() == "FIRST=1\0PATH=/nowhere\0"s);
  CHECK(facts.variable("PATH") == "/nowhere");
  CHECK_FALSE(facts.variable("HOME"));
  CHECK(facts.command_line().value() == "/bin/cat\0-\0"s);
}

TEST_CASE("a later process has a later or the same start time, which ps knows as elapsed seconds") {
  const stopped_child child({});
  const auto facts = process_facts::open(child.id()).value();
  const auto own = process_facts::open(process_id{::getpid()}).value();
  CHECK(facts.start_time() >= own.start_time());
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const double started = static_cast<double>(own.start_time()) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  const double elapsed = std::stod(ps(::getpid(), "etimes="));
  CHECK(static_cast<double>(now.tv_sec) - started >= elapsed - 2);
  CHECK(static_cast<double>(now.tv_sec) - started <= elapsed + 2);
}

TEST_CASE("after the process has ended, facts that were read stay known and no others can be read") {
  stopped_child child({"A=1"});
  const auto facts = process_facts::open(child.id()).value();
  CHECK(facts.variable("A") == "1");
  child.end();
  CHECK(facts.variable("A") == "1");
  CHECK(facts.users().error().code == error_code::process_gone);
  CHECK(facts.executable().error().code == error_code::process_gone);
  CHECK(facts.stat_now().error().code == error_code::process_gone);
  CHECK(facts.open_pidfd().error().code == error_code::process_gone);
  CHECK(facts.user() == no_user);
}

TEST_CASE("a zombie is a process that has ended and has no executable") {
  const stopped_child child({"A=1"});
  const auto before = process_facts::open(child.id()).value();
  child.become_zombie();
  CHECK(before.stat_now().value().has_ended());
  const auto facts = process_facts::open(child.id()).value();
  CHECK(facts.stat().has_ended());
  CHECK(facts.start_time() == before.start_time());
  CHECK(facts.executable().error().code == error_code::not_found);
  CHECK(facts.users().value().real == user_id{::getuid()});
}

TEST_CASE("a number without a process has no facts") {
  for (const std::int64_t number : {-1L, 0L, 1L << 22, 1L << 31, 1L << 40}) {
    INFO(number);
    CHECK(process_facts::open(process_id{number}).error().code == error_code::process_gone);
  }
}

TEST_CASE("a pidfd of the facts belongs to their process") {
  const stopped_child child({});
  const auto facts = process_facts::open(child.id()).value();
  const auto process = facts.open_pidfd().value();
  REQUIRE(::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0) == 0);
  siginfo_t ended{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child.pid()), &ended, WEXITED | WNOWAIT) == 0);
  CHECK(ended.si_status == SIGKILL);
}

TEST_CASE("closed facts open the folder again, and notice another process of the same number") {
  made_up_proc proc;
  proc.put("environ", "A=1\0");
  auto facts = process_facts::open(process_id{5}, proc.root()).value();
  facts.close();
  CHECK(facts.users().value() == process_users{user_id{1}, user_id{2}, user_id{3}, user_id{4}});
  facts.close();
  proc.put("stat", "5 (other) S 4 5 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0\n");
  CHECK(facts.environment().error().code == error_code::process_gone);
  CHECK_THAT(facts.environment().error().message, ContainsSubstring("another process has its number"));
}

TEST_CASE("each file is read once") {
  made_up_proc proc;
  proc.put("environ", "A=1\0"s);
  const auto facts = process_facts::open(process_id{5}, proc.root()).value();
  CHECK(facts.variable("A") == "1");
  CHECK(facts.users().value().real == user_id{1});
  proc.put("environ", "A=2\0"s);
  proc.put("status", "Name:\tx\nUid:\t9\t9\t9\t9\nNSpid:\t6\n");
  CHECK(facts.variable("A") == "1");
  CHECK(facts.users().value().real == user_id{1});
  CHECK(facts.namespace_pids().value() == std::vector{process_id{5}, process_id{1}});
  CHECK(facts.users_now().value().real == user_id{9});
}

TEST_CASE("the links of a made-up process are read") {
  made_up_proc proc;
  proc.link("exe", "/opt/app/solver (deleted)");
  proc.link("ns/pid", "pid:[12]");
  proc.link("ns/mnt", "mnt:[13]");
  const auto facts = process_facts::open(process_id{5}, proc.root()).value();
  CHECK(facts.executable().value() == "/opt/app/solver");
  CHECK(facts.namespaces().value() == process_namespaces{12, 13});
}

TEST_CASE("a file that is missing or is not as documented is an error of its fact alone") {
  made_up_proc proc;
  proc.put("status", "Name:\tx\nUid:\t1\t2\n");
  const auto facts = process_facts::open(process_id{5}, proc.root()).value();
  CHECK(facts.users().error().code == error_code::bad_format);
  CHECK(facts.environment().error().code == error_code::not_found);
  CHECK(facts.namespaces().error().code == error_code::not_found);
  CHECK(facts.stat().state == 'S');
  proc.put("stat", "nothing");
  CHECK(process_facts::open(process_id{5}, proc.root()).error().code == error_code::bad_format);
}

TEST_CASE("a file without end is read up to a limit") {
  made_up_proc proc;
  proc.link("environ", "/dev/zero");
  const auto facts = process_facts::open(process_id{5}, proc.root()).value();
  CHECK(facts.environment().value().size() == process_facts::most_words);
}

TEST_CASE("the lack of a free file descriptor is reported as such, and not as the end of the process") {
  const stopped_child child({});
  const auto facts = process_facts::open(child.id()).value();
  std::optional<error> opened, read, asked, pidfd;
  without_descriptors([&] {
    opened = process_facts::open(child.id()).error();
    read = facts.users().error();
    asked = users_of(child.id()).error();
    pidfd = facts.open_pidfd().error();
  });
  for (const auto& why : {opened, read, asked, pidfd}) {
    CHECK(why->code == error_code::limit);
    CHECK(why->system_errno == EMFILE);
  }
  CHECK_THAT(opened->message, ContainsSubstring("no file descriptor left"));
}

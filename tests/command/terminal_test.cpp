// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A terminal with a shell in front of it: Ctrl-C and Ctrl-Z do to a job under mpiacq what they do to one without.
#include <array>
#include <chrono>
#include <csignal>
#include <functional>

#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "catch.hpp"
#include "launched.hpp"

using namespace mpiacq::test;

namespace {

/// A shell as job control knows it: leader of the terminal's session, with one foreground job. It says what becomes of
/// the job, a line each ("stopped 19", "exited 3", "killed 2"), and does `fg` when told to.
[[noreturn]] void be_a_shell(const std::vector<std::string>& job, int says, int told) {
  ::signal(SIGTTOU, SIG_IGN);  // a shell gives the terminal away and takes it back
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    ::tcsetpgrp(0, ::getpid());
    ::signal(SIGTTOU, SIG_DFL);
    std::vector<char*> argv;
    for (const std::string& word : job) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(99);
  }
  ::setpgid(child, child);
  for (;;) {
    int status = 0;
    if (::waitpid(child, &status, WUNTRACED) != child) ::_exit(98);
    std::string line;
    if (WIFSTOPPED(status)) line = "stopped " + std::to_string(WSTOPSIG(status)) + "\n";
    if (WIFEXITED(status)) line = "exited " + std::to_string(WEXITSTATUS(status)) + "\n";
    if (WIFSIGNALED(status)) line = "killed " + std::to_string(WTERMSIG(status)) + "\n";
    (void)!::write(says, line.data(), line.size());
    if (!WIFSTOPPED(status)) ::_exit(0);
    char fg = 0;
    if (::read(told, &fg, 1) != 1) ::_exit(97);
    ::kill(-child, SIGCONT);
  }
}

class terminal {
 public:
  explicit terminal(const std::vector<std::string>& job) {
    std::array<int, 2> says{}, told{};
    REQUIRE(::pipe(says.data()) == 0);
    REQUIRE(::pipe(told.data()) == 0);
    shell_ = ::forkpty(&keyboard_, nullptr, nullptr, nullptr);
    if (shell_ == 0) {
      ::close(says[0]);
      ::close(told[1]);
      be_a_shell(job, says[1], told[0]);
    }
    ::close(says[1]);
    ::close(told[0]);
    says_ = says[0];
    tell_ = told[1];
  }
  ~terminal() {
    ::close(says_);
    ::close(tell_);
    ::close(keyboard_);  // hangs up what is left
    ::waitpid(shell_, nullptr, 0);
  }

  void type(char key) const { REQUIRE(::write(keyboard_, &key, 1) == 1); }
  void foreground() const { REQUIRE(::write(tell_, "f", 1) == 1); }
  /// The next line of the shell.
  [[nodiscard]] std::string shell_says() const {
    std::string line;
    for (char c = 0; ::read(says_, &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }

 private:
  int keyboard_ = -1;
  int says_ = -1;
  int tell_ = -1;
  pid_t shell_ = -1;
};

/// A job that waits for ever, launched by mpiacq in front of a terminal.
class job_in_terminal : public terminal {
 public:
  explicit job_in_terminal(const scratch_folder& folder) : terminal(command(folder)) {
    const std::string oracle = folder.path("oracle");
    REQUIRE(comes_true([&] { return read_oracle(oracle).count("waiting") != 0; }));
    starter_ = std::stol(read_oracle(oracle).at("starter_pid"));
  }
  [[nodiscard]] long starter() const { return starter_; }

 private:
  static std::vector<std::string> command(const scratch_folder& folder) {
    return {"/usr/bin/env", "MPIACQ_ORACLE=" + folder.path("oracle"),
            MPIACQ_COMMAND, "launch",
            "-o",           folder.path("report"),
            "--",           fixture("starter_stubborn")};
  }
  long starter_ = 0;
};

}  // namespace

TEST_CASE("Ctrl-C ends the starter, and mpiacq with its status") {
  const scratch_folder folder;
  const job_in_terminal screen(folder);
  screen.type('\x03');
  CHECK(screen.shell_says() == "exited " + std::to_string(128 + SIGINT));
}

TEST_CASE("Ctrl-Z stops the starter and mpiacq, and fg lets both go on") {
  const scratch_folder folder;
  const job_in_terminal screen(folder);
  const long starter = screen.starter();
  for (int round = 0; round < 3; ++round) {
    screen.type('\x1a');
    CHECK(screen.shell_says() == "stopped " + std::to_string(SIGSTOP));
    // Under a tracer a stopped process shows as traced.
    CHECK(comes_true([&] { return process_state(starter) == 't' || process_state(starter) == 'T'; }));
    screen.foreground();
    REQUIRE(comes_true([&] { return process_state(starter) == 'S'; }));
  }
  screen.type('\x03');
  CHECK(screen.shell_says() == "exited " + std::to_string(128 + SIGINT));
}

TEST_CASE("a hang-up reaches the starter") {
  const scratch_folder folder;
  long starter = 0;
  {
    const job_in_terminal screen(folder);
    starter = screen.starter();
  }
  CHECK(comes_true([&] { return process_state(starter) == ' ' || process_state(starter) == 'Z'; }));
}

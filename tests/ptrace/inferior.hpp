// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A program to be traced, with pipes to it: what it reports is what a test believes.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"
#include "mpiacq/process/tracer.hpp"
#include "patience.hpp"

namespace mpiacq::test {

using namespace std::chrono_literals;

/// One of our programs, by name; a path stays what it is.
inline std::string program_path(const std::string& name) {
  return name.starts_with('/') ? name : std::string(MPIACQ_PROGRAMS) + "/" + name;
}

/// The address of a symbol in one of our programs, as nm tells it.
inline target_address address_of(const std::string& program, const std::string& symbol) {
  const std::string command = "nm " + program_path(program);
  std::unique_ptr<FILE, int (*)(FILE*)> out(::popen(command.c_str(), "r"), ::pclose);
  char line[512];
  while (out && std::fgets(line, sizeof line, out.get()) != nullptr) {
    const std::string_view text(line);
    if (text.size() > symbol.size() + 19 && text.substr(19, symbol.size()) == symbol &&
        text[19 + symbol.size()] == '\n') {
      return target_address{std::strtoull(line, nullptr, 16)};
    }
  }
  FAIL("nm shows no " << symbol << " in " << program);
  return {};
}

/// The pipes of one program. They are inherited by what is launched while this lives and `started` was not called.
class inferior {
 public:
  explicit inferior(const std::string& program, std::vector<std::string> arguments = {}) {
    REQUIRE(::pipe2(report_, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(orders_, O_CLOEXEC) == 0);
    keep(report_[1]);
    keep(orders_[0]);
    request.arguments = std::move(arguments);
    request.arguments.insert(request.arguments.begin(), program_path(program));
    request.environment =
        std::vector<std::string>{"PATH=" + std::string(std::getenv("PATH")), "REPORT_FD=" + std::to_string(report_[1]),
                                 "ORDERS_FD=" + std::to_string(orders_[0])};
  }
  ~inferior() {
    for (int* fd : {&report_[0], &report_[1], &orders_[0], &orders_[1]}) close(*fd);
  }
  inferior(const inferior&) = delete;
  inferior& operator=(const inferior&) = delete;

  /// Closes the program's ends here, so that its end shows.
  void started() {
    close(report_[1]);
    close(orders_[0]);
  }
  void order(char what) { REQUIRE(::write(orders_[1], &what, 1) == 1); }
  void no_more_orders() { close(orders_[1]); }
  /// Up to and without the next newline.
  std::string line() {
    std::string text;
    for (char c = byte(); c != '\n'; c = byte()) text += c;
    return text;
  }
  char byte() {
    char c = '\n';
    if (::read(report_[0], &c, 1) != 1) return '\n';
    return c;
  }
  /// All until every holder of the pipe has ended.
  std::string rest() {
    std::string text;
    char c = 0;
    while (::read(report_[0], &c, 1) == 1) text += c;
    return text;
  }
  [[nodiscard]] bool silent() const {
    const int flags = ::fcntl(report_[0], F_GETFL);
    ::fcntl(report_[0], F_SETFL, flags | O_NONBLOCK);
    char c = 0;
    const bool nothing = ::read(report_[0], &c, 1) < 0;
    ::fcntl(report_[0], F_SETFL, flags);
    return nothing;
  }

  launch_request request;

 private:
  static void keep(int fd) { ::fcntl(fd, F_SETFD, 0); }
  static void close(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
  int report_[2] = {-1, -1};
  int orders_[2] = {-1, -1};
};

/// A program of forty threads that do nothing but make threads leaves a tracer on a busy machine little of the
/// processors: what is tested is that all are stopped, not how soon.
inline std::unique_ptr<tracer> new_tracer(tracer_options options = {.stop_limit = 15s, .tracing_program = {}}) {
  auto made = tracer::create(options);
  if (!made) FAIL(made.error().message);
  return std::move(*made);
}

/// The next event; no test waits longer than this.
inline process_event next_event(tracer& t) {
  auto event = t.wait(clock::now() + patience);
  REQUIRE(event.has_value());
  REQUIRE(event->has_value());
  if (const auto* problem = std::get_if<tracing_problem>(&(*event)->what)) INFO(problem->what.message);
  return **event;
}

/// The state and the kernel function of each thread of the process that an error names first: where threads do not stop
/// in time, this tells whether the kernel kept them (D), they never got to run (R), or they stand unnoticed (t).
inline std::string states_of_threads(const error& e) {
  std::string text;
  const auto number = e.message.find_first_of("0123456789");
  if (e.code != error_code::timed_out || number == std::string::npos) return text;
  std::error_code gone;
  const std::string folder = "/proc/" + std::to_string(std::atoi(e.message.c_str() + number)) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(folder, gone)) {
    std::string stat, place;
    std::getline(std::ifstream(task.path() / "stat"), stat);
    std::getline(std::ifstream(task.path() / "wchan"), place);
    const auto state = stat.rfind(") ");
    text += "\n" + task.path().filename().string() + ' ' +
            (state == std::string::npos ? std::string("?") : stat.substr(state + 2, 1)) + ' ' + place;
  }
  return text;
}

template <class What>
What next(tracer& t) {
  const process_event event = next_event(t);
  if (const auto* problem = std::get_if<tracing_problem>(&event.what))
    FAIL(problem->what.message << states_of_threads(problem->what));
  INFO("event number " << event.what.index());
  REQUIRE(std::holds_alternative<What>(event.what));
  return std::get<What>(event.what);
}

template <class T>
void ok(const result<T>& r) {
  if (!r) FAIL(r.error().message << states_of_threads(r.error()));
}

/// Launched, at its entry point.
inline process_id at_entry(tracer& t, inferior& program) {
  const auto id = t.launch(program.request);
  if (!id) FAIL(id.error().message);
  program.started();
  next<entry_reached>(t);
  return *id;
}

inline exit_status run_to_end(tracer& t, process_id id) {
  ok(t.resume(id));
  return next<process_ended>(t).status;
}

/// While it lives, processes whose parent dies become children of this one.
struct child_subreaper {
  child_subreaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~child_subreaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }
  child_subreaper(const child_subreaper&) = delete;
  child_subreaper& operator=(const child_subreaper&) = delete;
};

/// How a launched process ended whose tool is gone: it is ours when the tracing process, its parent, has ended.
inline int orphan_status(pid_t orphan) {
  int status = 0;
  for (pid_t ended = 0; ended != orphan;) {
    ended = ::waitpid(-1, &status, 0);
    REQUIRE(ended > 0);
    if (ended != orphan) CHECK(status == 0);
  }
  return status;
}

/// A line of /proc/PID/status, without its name and blanks.
inline std::string status_line(process_id id, const std::string& name) {
  const std::string path = "/proc/" + std::to_string(id.value()) + "/status";
  std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "r"),
                                             [](FILE* f) { return f ? std::fclose(f) : 0; });
  char line[512];
  while (file && std::fgets(line, sizeof line, file.get()) != nullptr) {
    const std::string_view text(line);
    if (!text.starts_with(name + ":")) continue;
    auto value = text.substr(name.size() + 1);
    value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
    return std::string(value.substr(0, value.find('\n')));
  }
  return {};
}

}  // namespace mpiacq::test

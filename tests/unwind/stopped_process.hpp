// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A program with a known stack, stopped by SIGSTOP, so that other stack readers can read the same stop.
#pragma once

#include <charconv>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "catch.hpp"
#include "live_process.hpp"
#include "mpiacq/process/registers.hpp"
#include "mpiacq/process/unwinder.hpp"

namespace mpiacq::test {

/// The addresses that the program prints for one of its threads, innermost first. Empty: frames unknown to the program.
using known_stack = std::vector<std::optional<std::uint64_t>>;

inline std::string stack_program(const std::string& name) {
  return std::string(MPIACQ_STACKS) + "/" + name;
}

class stopped_process {
 public:
  explicit stopped_process(std::vector<std::string> arguments) : process_(std::move(arguments)) {
    known_stack* current = nullptr;
    lines = process_.lines_until_ready();
    for (const std::string& line : lines) {
      if (line.starts_with("thread ")) current = &known[thread_id{std::stol(line.substr(7))}];
      if (line == "gap") current->emplace_back();
      if (line.starts_with("call ") && current != nullptr)
        current->emplace_back(std::stoull(line.substr(5), nullptr, 16));
    }
    REQUIRE(!lines.empty());
    stop();
  }

  void stop() {
    REQUIRE(::kill(number(), SIGSTOP) == 0);
    int status = 0;
    REQUIRE(::waitpid(number(), &status, WUNTRACED) == number());
    REQUIRE(WIFSTOPPED(status));
    registers = read_registers();
  }
  void go_on() const { REQUIRE(::kill(number(), SIGCONT) == 0); }

  [[nodiscard]] process_id pid() const { return process_.pid(); }
  [[nodiscard]] pid_t number() const { return static_cast<pid_t>(process_.pid().value()); }
  [[nodiscard]] const thread_registers& main_registers() const { return registers.front(); }
  [[nodiscard]] const known_stack& known_of_main() const { return known.at(thread_id{number()}); }

  std::vector<std::string> lines;  ///< all that the program printed
  std::map<thread_id, known_stack> known;
  std::vector<thread_registers> registers;  ///< of all threads, the main one first

 private:
  /// Each thread is traced only during the reads; it stays stopped.
  [[nodiscard]] std::vector<thread_registers> read_registers() const {
    std::vector<thread_registers> all;
    const std::filesystem::path tasks = "/proc/" + std::to_string(number()) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks)) {
      const auto thread = static_cast<pid_t>(std::stol(task.path().filename().string()));
      REQUIRE(::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) == 0);
      REQUIRE(::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) == 0);
      int status = 0;
      REQUIRE(::waitpid(thread, &status, __WALL) == thread);
      all.push_back(registers_of(thread));
      REQUIRE(::ptrace(PTRACE_DETACH, thread, nullptr, nullptr) == 0);
    }
    std::sort(all.begin(), all.end(),
              [](const thread_registers& a, const thread_registers& b) { return a.thread < b.thread; });
    return all;
  }

  static thread_registers registers_of(pid_t thread) {
    // PTRACE_GETREGSET would return the registers of a 32-bit thread in another form.
    user_regs_struct r{};
    REQUIRE(::ptrace(PTRACE_GETREGS, thread, nullptr, &r) == 0);
    thread_registers all;
    all.thread = thread_id{thread};
    const std::uint64_t numbered[] = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8,
                                      r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15, r.rip};
    std::copy(std::begin(numbered), std::end(numbered), all.by_dwarf_number.begin());
    all.count = std::size(numbered);
    all.pc = target_address{r.rip};
    all.sp = target_address{r.rsp};
    return all;
  }

  live_process process_;
};

/// An unwinder of a live process, with its memory.
struct walker {
  explicit walker(process_id pid, std::shared_ptr<unwind_tables> shared = std::make_shared<unwind_tables>())
      : memory(pid) {
    auto map = unwind_modules_of(pid, memory);
    REQUIRE(map.has_value());
    modules = map->modules;
    auto made = unwinder::create(map->abi, std::move(shared), map->modules, memory);
    REQUIRE(made.has_value());
    stacks = std::move(*made);
  }
  raw_stack walk(const thread_registers& thread, walk_options options = {}) {
    auto stack = stacks->walk(thread, options);
    REQUIRE(stack.has_value());
    return std::move(*stack);
  }

  live_memory memory;
  std::vector<unwind_module> modules;
  std::unique_ptr<unwinder> stacks;
};

inline std::vector<std::uint64_t> addresses(const raw_stack& stack) {
  std::vector<std::uint64_t> all;
  for (const raw_frame& frame : stack.frames) all.push_back(frame.pc.value());
  return all;
}

/// The stack contains the program's addresses in their order, with other frames only at the marked places.
inline bool contains(const raw_stack& stack, const known_stack& known) {
  const auto frames = addresses(stack);
  auto at = frames.begin();
  bool may_skip = true;
  for (const auto& address : known) {
    if (!address) {
      may_skip = true;
      continue;
    }
    const auto found = may_skip ? std::find(at, frames.end(), *address) : at;
    if (found == frames.end() || *found != *address) return false;
    at = std::next(found);
    may_skip = false;
  }
  return true;
}

/// Checks the stacks of all threads of which the program has printed calls. Returns their number.
inline std::size_t stacks_as_printed(const std::vector<raw_stack>& stacks, const stopped_process& process) {
  std::size_t compared = 0;
  for (const raw_stack& stack : stacks) {
    const auto known = process.known.find(stack.thread);
    if (known == process.known.end()) continue;
    CAPTURE(addresses(stack), stack.why);
    CHECK(contains(stack, known->second));
    CHECK(stack.end == stack_end::outermost);
    ++compared;
  }
  return compared;
}

}  // namespace mpiacq::test

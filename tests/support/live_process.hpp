// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A running fixture, which tells its state through pipes, and its memory. Nothing here is traced.
#pragma once

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/base/memory.hpp"
#include "start_child.hpp"

namespace mpiacq::test {

/// A child process whose standard input and output are pipes of the test. The destructor kills it and waits for it.
class live_process {
 public:
  explicit live_process(std::vector<std::string> arguments) {
    int input[2] = {-1, -1};
    int output[2] = {-1, -1};
    if (::pipe2(input, O_CLOEXEC) != 0 || ::pipe2(output, O_CLOEXEC) != 0) return;
    child_start how;
    how.in = input[0];
    how.out = output[1];
    how.default_signals = {SIGINT, SIGQUIT};  // the test may ignore them, as in the background of a shell
    pid_ = start_child(std::move(arguments), how);
    ::close(input[0]);
    ::close(output[1]);
    input_ = input[1];
    output_ = ::fdopen(output[0], "r");
  }

  ~live_process() {
    if (input_ >= 0) ::close(input_);
    if (output_ != nullptr) std::fclose(output_);
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
    }
  }
  live_process(const live_process&) = delete;
  live_process& operator=(const live_process&) = delete;

  [[nodiscard]] process_id pid() const { return process_id{pid_}; }

  /// The next line of its output; empty if the output has ended.
  std::optional<std::string> next_line() {
    std::string line;
    for (int c = std::fgetc(output_); c != EOF; c = std::fgetc(output_)) {
      if (c == '\n') return line;
      line += static_cast<char>(c);
    }
    return std::nullopt;
  }

  /// The lines of its output up to "ready"; empty if the output ends without it.
  std::vector<std::string> lines_until_ready() {
    std::vector<std::string> lines;
    while (auto line = next_line()) {
      if (*line == "ready") return lines;
      lines.push_back(std::move(*line));
    }
    return {};
  }

  void tell(char command) const {
    while (::write(input_, &command, 1) < 0 && errno == EINTR) continue;
  }

  /// Closes its standard input, waits for its end, and returns the status of wait(2).
  int end() {
    ::close(std::exchange(input_, -1));
    int status = -1;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  std::FILE* output_ = nullptr;
};

/// A live process's memory by process_vm_readv, with one call for each range. It counts the requests.
class live_memory final : public memory_reader {
 public:
  explicit live_memory(process_id pid) : pid_(static_cast<pid_t>(pid.value())) {}

  result<void> read_ranges(std::span<memory_range> ranges) override {
    ++calls;
    for (memory_range& range : ranges) {
      range.got = 0;
      while (range.got < range.into.size()) {
        // Each call reads up to the end of a page, because a call stops at the first range that is not readable as a
        // whole.
        const target_address next = range.address + range.got;
        const std::size_t room = read_page_size - static_cast<std::size_t>(next.value() % read_page_size);
        const std::size_t size = std::min(range.into.size() - range.got, room);
        iovec here{range.into.data() + range.got, size};
        iovec there{reinterpret_cast<void*>(next.value()), size};
        const ssize_t count = ::process_vm_readv(pid_, &here, 1, &there, 1, 0);
        if (count < 0 && errno == ESRCH) return fail(error_code::process_gone, "the process has ended");
        if (count <= 0) break;
        range.got += static_cast<std::size_t>(count);
      }
      bytes += range.got;
    }
    return {};
  }

  std::size_t calls = 0;
  std::size_t bytes = 0;

 private:
  pid_t pid_;
};

}  // namespace mpiacq::test

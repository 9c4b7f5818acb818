// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "running_job.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "descriptors/unique_fd.hpp"
#include "real_job.hpp"
#include "start_child.hpp"

namespace mpiacq::test {

namespace {

using clock = std::chrono::steady_clock;

int milliseconds_until(clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 3'600'000));
}

struct mapping {
  unsigned long begin = 0;
  unsigned long end = 0;
  unsigned long offset = 0;
  std::string rights;
  std::string path;
};

std::vector<mapping> mappings_of(pid_t pid, const std::string& module) {
  std::vector<mapping> all;
  std::istringstream lines(file_contents("/proc/" + std::to_string(pid) + "/maps"));
  for (std::string line; std::getline(lines, line);) {
    mapping m;
    char dash = 0;
    std::string device, inode;
    std::istringstream words(line);
    words >> std::hex >> m.begin >> dash >> m.end >> m.rights >> m.offset >> device >> inode >> m.path;
    if (m.path.find(module) != std::string::npos) all.push_back(std::move(m));
  }
  return all;
}

std::string memory_of(pid_t pid, unsigned long address, std::size_t size) {
  const int memory = ::open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC);
  std::string bytes(size, '\0');
  const ssize_t got = ::pread(memory, bytes.data(), size, static_cast<off_t>(address));
  ::close(memory);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

struct exported_symbol {
  unsigned long address = 0;
  unsigned long size = 0;
  std::string name;
};

/// nm's "ADDRESS SIZE LETTER NAME" lines, of variables alone.
std::vector<exported_symbol> exported_variables(const std::string& file) {
  std::vector<exported_symbol> all;
  std::istringstream lines(run_command({"nm", "-D", "-S", "--defined-only", file}).out);
  for (std::string line; std::getline(lines, line);) {
    exported_symbol s;
    char letter = 0;
    std::istringstream words(line);
    if (!(words >> std::hex >> s.address >> s.size >> letter >> s.name)) continue;
    if (std::strchr("BbDdVvRr", letter) != nullptr) all.push_back(std::move(s));
  }
  return all;
}

}  // namespace

int job_end::as_shell() const {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool job_end::all_ranks_ended(std::size_t ranks) const {
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (out.find("rank " + std::to_string(rank) + " ends\n") == std::string::npos) return false;
  }
  return true;
}

running_job::running_job(std::vector<std::string> command, std::size_t ranks) {
  const std::string fifo = folder_.path("stay");
  // The ranks may run as another user.
  if (::mkfifo(fifo.c_str(), 0600) != 0 || ::chmod(fifo.c_str(), 0644) != 0) return;
  if (::chmod(folder_.path("").c_str(), 0711) != 0) return;
  hold_ = ::open(fifo.c_str(), O_RDWR | O_CLOEXEC);
  command.insert(command.end(), {"--stay", fifo});
  std::array<int, 2> ends{-1, -1};
  if (hold_ < 0 || ::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  const base::unique_fd nothing{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  starter_ = start_child(command, {nothing.get(), ends[1], ends[1], openmpi_environment()});
  ::close(ends[1]);
  output_ = ends[0];
  const auto until = clock::now() + patience;
  while ((ranks_ = pids_printed(out_)).size() < ranks && read_more(until)) continue;
}

running_job::~running_job() {
  if (hold_ >= 0) ::close(hold_);
  if (output_ >= 0) ::close(output_);
  if (starter_ > 0 && !ended_) {
    ::kill(starter_, SIGKILL);
    while (::waitpid(starter_, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  // One that a failed test has left stopped sees no end of its FIFO.
  for (const auto& [rank, pid] : ranks_) {
    std::error_code gone;
    const auto program = std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", gone);
    if (program.string().starts_with(MPIACQ_RANKS)) ::kill(static_cast<pid_t>(pid), SIGKILL);
  }
}

bool running_job::read_more(clock::time_point until) {
  pollfd waiting{output_, POLLIN, 0};
  if (::poll(&waiting, 1, milliseconds_until(until)) <= 0) return false;
  std::array<char, 4096> piece{};
  const ssize_t got = ::read(output_, piece.data(), piece.size());
  if (got > 0) out_.append(piece.data(), static_cast<std::size_t>(got));
  return got > 0;
}

std::string running_job::disturbed() const {
  std::string all = disturbed_threads(starter_);
  for (const auto& [rank, pid] : ranks_) all += disturbed_threads(pid);
  return all;
}

job_end running_job::finish() {
  ::close(hold_);
  hold_ = -1;
  return wait();
}

job_end running_job::wait() {
  const auto until = clock::now() + patience;
  while (read_more(until)) continue;
  job_end end;
  end.timed_out = !wait_for_process(starter_, end.status, patience);
  ended_ = !end.timed_out;
  end.out = out_;
  return end;
}

task_status status_of_task(const std::string& proc_folder) {
  task_status status;
  std::istringstream lines(file_contents(proc_folder + "/status"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("State:\t")) status.state = line[7];
    if (line.starts_with("TracerPid:\t")) status.tracer = std::atol(line.c_str() + 11);
  }
  return status;
}

std::string disturbed_threads(long pid) {
  std::string all;
  std::error_code gone;
  const std::string threads = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(threads, gone)) {
    const task_status status = status_of_task(thread.path());
    if (status.state != 'T' && status.state != 't' && status.tracer == 0) continue;
    all += std::to_string(pid) + "/" + thread.path().filename().string() + ": state " + status.state + ", traced by " +
           std::to_string(status.tracer) + "\n";
  }
  return all;
}

bool is_stopped(long pid) {
  const task_status status = status_of_task("/proc/" + std::to_string(pid));
  return status.state == 'T' && status.tracer == 0;
}

std::set<long> ranks_stopped(const std::map<long, long>& ranks, std::size_t expected) {
  std::set<long> stopped;
  const auto look = [&] {
    stopped.clear();
    for (const auto& [rank, pid] : ranks) {
      if (is_stopped(pid)) stopped.insert(rank);
    }
    return stopped.size() == expected;
  };
  (void)comes_true(look);
  return stopped;
}

std::string bytes_of_symbol(pid_t pid, const std::string& module, const std::string& symbol) {
  const auto mapped = mappings_of(pid, module);
  if (mapped.empty()) return {};
  for (const exported_symbol& s : exported_variables(mapped.front().path)) {
    // The first mapping is the file's beginning, and shared objects are linked at 0.
    if (s.name == symbol) return memory_of(pid, mapped.front().begin + s.address, s.size);
  }
  return {};
}

int int_of_symbol(pid_t pid, const std::string& module, const std::string& symbol) {
  const std::string bytes = bytes_of_symbol(pid, module, symbol);
  int value = -1;
  if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::string image_of(pid_t pid, const std::string& module) {
  const auto mapped = mappings_of(pid, module);
  std::string image;
  for (const mapping& m : mapped) {
    if (m.rights.find('x') != std::string::npos) image += memory_of(pid, m.begin, m.end - m.begin);
  }
  if (image.empty()) return {};
  for (const exported_symbol& s : exported_variables(mapped.front().path)) {
    if (s.name.starts_with("MPIR_")) image += memory_of(pid, mapped.front().begin + s.address, s.size);
  }
  return image;
}

pid_t start_process(const std::vector<std::string>& arguments, const std::string& output_file) {
  const char* const path = output_file.empty() ? "/dev/null" : output_file.c_str();
  const base::unique_fd output{::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)};
  const base::unique_fd nothing{::open("/dev/null", O_RDWR | O_CLOEXEC)};
  return start_child(arguments, {nothing.get(), output.get(), output.get(), openmpi_environment()});
}

bool wait_for_process(pid_t pid, int& status, std::chrono::seconds limit) {
  // By number: the C library's wrapper is newer than some systems we run on.
  const int ending = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  pollfd waiting{ending, POLLIN, 0};
  const int ready = ::poll(&waiting, 1, milliseconds_until(clock::now() + limit));
  ::close(ending);
  return ready > 0 && ::waitpid(pid, &status, 0) == pid;
}

}  // namespace mpiacq::test

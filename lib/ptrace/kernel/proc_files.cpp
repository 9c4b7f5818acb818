// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "kernel/proc_files.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/kcmp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mpiacq/base/abi.hpp"
#include "proc/proc_text.hpp"

namespace mpiacq::tracing {

std::optional<std::string> read_small_file(const std::string& path, std::size_t limit) {
  const unique_fd file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, 4096> piece{};
  while (text.size() < limit) {
    const ssize_t got = ::read(file.get(), piece.data(), std::min(piece.size(), limit - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

bool no_descriptor_is_left() {
  return errno == EMFILE || errno == ENFILE;
}

error no_descriptor_for(std::string_view what, pid_t process) {
  const int why = errno;
  return error{error_code::system, fmt::format("{} of process {}: no descriptor is left (ulimit -n)", what, process)}
      .with_errno(why);
}

namespace {

/// 0 if the line is missing.
pid_t number_of(std::string_view status, std::string_view line) {
  auto rest = status_line(status, line).value_or("");
  return static_cast<pid_t>(take_number(rest).value_or(0));
}

/// Whether a set of signals, as a hexadecimal number, has this one.
bool has_signal(std::string_view set, int signal) {
  std::uint64_t bits = 0;
  std::from_chars(set.data(), set.data() + set.size(), bits, 16);
  return (bits >> (signal - 1) & 1U) != 0;
}

/// Whether the program is a 64-bit one. Assumed if its file cannot be read (mode 0111).
bool is_64_bit(pid_t process) {
  const auto head = read_small_file(fmt::format("/proc/{}/exe", process), EI_CLASS + 1);
  return !head || head->size() <= EI_CLASS || (*head)[EI_CLASS] == ELFCLASS64;
}

}  // namespace

std::optional<task_status> read_task_status(pid_t task) {
  const auto text = read_small_file(fmt::format("/proc/{}/status", task));
  if (!text || text->empty()) return std::nullopt;
  task_status status;
  status.process = number_of(*text, "Tgid");
  status.parent = number_of(*text, "PPid");
  status.tracer = number_of(*text, "TracerPid");
  status.threads = number_of(*text, "Threads");
  status.has_kill_pending = has_signal(status_line(*text, "SigPnd").value_or(""), SIGKILL);
  if (const auto state = status_line(*text, "State").value_or(""); !state.empty()) status.state = state.front();
  return status;
}

int read_exit_code(pid_t process) {
  constexpr int field_after_name = 3;
  constexpr int exit_code = 52;
  const auto text = read_small_file(fmt::format("/proc/{}/stat", process));
  if (!text) return 0;
  // The name is in parentheses, and may contain any character.
  const auto name_end = text->rfind(')');
  if (name_end == std::string::npos) return 0;
  std::string_view rest = std::string_view{*text}.substr(name_end + 1);
  for (int field = field_after_name; field < exit_code; ++field) {
    const auto begin = rest.find_first_not_of(' ');
    const auto end = begin == std::string_view::npos ? begin : rest.find(' ', begin);
    if (end == std::string_view::npos) return 0;
    rest.remove_prefix(end);
  }
  return static_cast<int>(take_number(rest).value_or(0));
}

std::vector<pid_t> list_threads(pid_t process) {
  std::vector<pid_t> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(fmt::format("/proc/{}/task", process).c_str()),
                                                   ::closedir);
  while (folder) {
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr) break;
    const std::string_view text = entry->d_name;
    pid_t task = 0;
    std::from_chars(text.data(), text.data() + text.size(), task);
    if (task > 0) all.push_back(task);
  }
  return all;
}

namespace {

bool lives(pid_t task) {
  const auto status = read_task_status(task);
  return status && status->state != 'Z' && status->state != 'X';
}

}  // namespace

std::optional<pid_t> living_thread(pid_t process) {
  errno = 0;
  if (lives(process)) return process;
  const auto all = list_threads(process);
  const auto living = std::find_if(all.begin(), all.end(), lives);
  if (living == all.end()) return std::nullopt;
  return *living;
}

bool has_ended(pid_t process) {
  // One read shows the state and the number of threads, so that no thread can take the dead leader's place in between:
  // such a thread is still counted.
  errno = 0;
  const auto status = read_task_status(process);
  return (!status && !no_descriptor_is_left()) || (status && status->state == 'Z' && status->threads == 1);
}

bool is_thread_of(pid_t process, pid_t task) {
  return ::access(fmt::format("/proc/{}/task/{}", process, task).c_str(), F_OK) == 0;
}

std::string command_name(pid_t process) {
  auto text = read_small_file(fmt::format("/proc/{}/comm", process));
  if (!text || text->empty()) return "?";
  if (text->back() == '\n') text->pop_back();
  return *text;
}

std::optional<int> yama_ptrace_scope() {
  const auto text = read_small_file("/proc/sys/kernel/yama/ptrace_scope");
  if (!text) return std::nullopt;
  int scope = 0;
  std::from_chars(text->data(), text->data() + text->size(), scope);
  return scope;
}

result<target_address> program_entry(pid_t process) {
  const std::string path = fmt::format("/proc/{}/auxv", process);
  const auto auxv = read_small_file(path);
  if (!auxv) {
    const int why = errno;
    const bool refused = why == EACCES || why == EPERM;
    error e = error{refused ? error_code::permission : error_code::system,
                    fmt::format("finding the entry point of process {}: {} cannot be read", process, path)}
                  .with_errno(why)
                  .on(path);
    // The kernel makes such a process inaccessible except to root (its "dumpable" state); it still runs under the
    // tracer.
    if (refused) e.message += "; a program that may be run but not read, or with rights of its own, is closed to tools";
    return fail(std::move(e));
  }
  const std::size_t width = is_64_bit(process) ? 8 : 4;
  const auto bytes = std::as_bytes(std::span{*auxv});
  // The process runs on this machine, so that it has this program's byte order.
  constexpr auto order = std::endian::native == std::endian::big ? byte_order::big : byte_order::little;
  const auto word = [&](std::size_t at) { return decode_unsigned(bytes.subspan(at, width), order); };
  for (std::size_t at = 0; at + 2 * width <= bytes.size(); at += 2 * width) {
    if (word(at) == AT_ENTRY && word(at + width) != 0) return target_address{word(at + width)};
    if (word(at) == AT_NULL) break;
  }
  return fail(error{error_code::bad_format, "the auxiliary vector has no entry point (AT_ENTRY)"}.on(path));
}

std::optional<bool> share_memory(pid_t one, pid_t other) {
  const long order = ::syscall(SYS_kcmp, one, other, KCMP_VM, 0, 0);
  if (order < 0) return std::nullopt;
  return order == 0;
}

}  // namespace mpiacq::tracing

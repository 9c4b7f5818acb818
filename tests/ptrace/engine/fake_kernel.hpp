// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A kernel without processes, for the parts of the engine: it says what a test has put into it, and remembers what it
// was asked to do.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <sys/uio.h>

#include "engine/event_queue.hpp"
#include "engine/tracee.hpp"
#include "kernel/kernel_access.hpp"
#include "kernel/kernel_ptrace.hpp"
#include "wire/channel.hpp"
#include "wire/tracer_messages.hpp"

namespace mpiacq::test {

class fake_ptrace final : public tracing::ptrace_calls {
 public:
  bool registers_work = true;  ///< false: the kernel accepts breakpoint registers, and they stop nothing
  [[nodiscard]] bool has_breakpoint_registers() const override { return registers_work; }

  [[nodiscard]] long raw(int request, pid_t thread, unsigned long address, unsigned long data) const override {
    if (gone.contains(thread)) return -ESRCH;
    if (const auto refused = refusals.find(request); refused != refusals.end()) return -refused->second;
    switch (request) {
      case PTRACE_PEEKUSER:
        return give(user[{thread, address}], data);
      case PTRACE_POKEUSER:
        user[{thread, address}] = data;
        return 0;
      case PTRACE_GETEVENTMSG:
        return give(messages[thread], data);
      case PTRACE_GETSIGINFO:
        return give(signals[thread], data);
      case PTRACE_GETREGSET:
        return give_registers(register_sets[thread], data);
      case PTRACE_PEEKSIGINFO:
        return 0;
      case PTRACE_CONT:
        return note("continue", thread, data);
      case PTRACE_SINGLESTEP:
        return note("step", thread, data);
      case PTRACE_DETACH:
        return note("detach", thread, data);
      case PTRACE_LISTEN:
        return note("listen", thread, 0);
      case PTRACE_INTERRUPT:
        return note("interrupt", thread, 0);
      default:
        return 0;
    }
  }

  /// What was done with threads since this was asked last: "continue 7", "detach 8 with 15".
  [[nodiscard]] std::vector<std::string> done() const { return std::exchange(done_, {}); }

  std::set<pid_t> gone;         ///< these are being killed
  std::map<int, int> refusals;  ///< the error of a request
  mutable std::map<std::pair<pid_t, unsigned long>, unsigned long> user;
  mutable std::map<pid_t, unsigned long> messages;
  mutable std::map<pid_t, siginfo_t> signals;
  mutable std::map<pid_t, std::vector<std::byte>> register_sets;  ///< none: zeros

 private:
  template <class T>
  static long give(const T& what, unsigned long data) {
    std::memcpy(reinterpret_cast<void*>(data), &what, sizeof what);
    return 0;
  }
  static long give_registers(const std::vector<std::byte>& set, unsigned long data) {
    auto* const into = reinterpret_cast<iovec*>(data);
    if (set.empty()) return 0;
    into->iov_len = std::min(into->iov_len, set.size());
    std::memcpy(into->iov_base, set.data(), into->iov_len);
    return 0;
  }
  long note(const char* what, pid_t thread, unsigned long signal) const {
    std::string text = what + (' ' + std::to_string(thread));
    if (signal != 0) text += " with " + std::to_string(signal);
    done_.push_back(std::move(text));
    return 0;
  }
  mutable std::vector<std::string> done_;
};

/// The code of every process is nops until something is written.
class fake_code final : public tracing::code_memory {
 public:
  static constexpr std::byte nop{0x90};

  [[nodiscard]] result<void> read(pid_t process, target_address address, std::span<std::byte> into) override {
    for (std::size_t i = 0; i < into.size(); ++i) {
      const auto known = bytes_.find({process, address.value() + i});
      into[i] = known == bytes_.end() ? nop : known->second;
    }
    return {};
  }
  [[nodiscard]] result<void> write(pid_t process, target_address address, std::span<const std::byte> bytes) override {
    for (std::size_t i = 0; i < bytes.size() && !loses_writes; ++i) bytes_[{process, address.value() + i}] = bytes[i];
    return {};
  }
  [[nodiscard]] bool has_trap(pid_t process, target_address address) {
    return holds(process, address, tracing::arch::trap_instruction());
  }

  bool loses_writes = false;  ///< a write says that it worked, and does nothing

 private:
  std::map<std::pair<pid_t, std::uint64_t>, std::byte> bytes_;
};

class fake_tasks final : public tracing::task_reader {
 public:
  [[nodiscard]] std::optional<tracing::task_status> status(pid_t task) const override {
    const auto found = all.find(task);
    return found == all.end() ? std::nullopt : std::optional{found->second};
  }
  [[nodiscard]] bool is_thread_of(pid_t process, pid_t task) const override {
    const auto found = all.find(task);
    return found != all.end() && found->second.process == process;
  }
  [[nodiscard]] int exit_code(pid_t process) const override {
    const auto found = exit_codes.find(process);
    return found == exit_codes.end() ? 0 : found->second;
  }
  [[nodiscard]] std::optional<bool> share_memory(pid_t one, pid_t other) const override {
    return sharing.contains({std::min(one, other), std::max(one, other)});
  }

  std::map<pid_t, tracing::task_status> all;
  std::map<pid_t, int> exit_codes;
  std::set<std::pair<pid_t, pid_t>> sharing;  ///< the smaller number first
};

struct fake_kernel {
  [[nodiscard]] tracing::kernel_access access() { return {calls, memory, tasks}; }

  fake_ptrace calls;
  fake_code memory;
  fake_tasks tasks;
};

/// An event queue, and the tool at its other end.
class event_probe {
 public:
  event_probe() : ends_(*tracing::make_socket_pair(SOCK_SEQPACKET)), queue(std::move(ends_.ours)) {}
  /// The next event that was sent; empty where there is none.
  [[nodiscard]] std::optional<process_event> next() const {
    std::vector<std::byte> bytes;
    if (tracing::receive_packet(ends_.theirs.get(), bytes) != tracing::packet_outcome::done) return std::nullopt;
    return tracing::decode<process_event>(bytes);
  }
  template <class What>
  [[nodiscard]] std::optional<What> next_as() const {
    const auto event = next();
    if (!event || !std::holds_alternative<What>(event->what)) return std::nullopt;
    return std::get<What>(event->what);
  }

 private:
  tracing::socket_pair ends_;

 public:
  tracing::event_queue queue;
};

}  // namespace mpiacq::test

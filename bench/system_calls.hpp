// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mpiacq::bench {

/// Counts the system calls of this thread, and of all threads and processes that it makes once this exists, by the
/// kernel's own tracepoints. Where those may not be used (it takes root, as a rule), there is no count.
class system_call_counter {
 public:
  /// `only` as the kernel's filters have it: COMM == "tracer"; empty: of everybody.
  explicit system_call_counter(const std::string& only = {})
      : system_call_counter({"raw_syscalls/sys_enter"}, only, 1) {}

  /// Of files alone: open and its successors.
  static system_call_counter of_opens() {
    return {{"syscalls/sys_enter_open", "syscalls/sys_enter_openat", "syscalls/sys_enter_openat2"}, {}, 0};
  }

  /// Of those alone by which a tracer has its way.
  static system_call_counter of_tracing() { return {{"syscalls/sys_enter_ptrace", "syscalls/sys_enter_wait4"}, {}, 0}; }

  ~system_call_counter() {
    for (const int event : events_) ::close(event);
  }
  system_call_counter(system_call_counter&& other) noexcept = default;
  system_call_counter(const system_call_counter&) = delete;
  system_call_counter& operator=(const system_call_counter&) = delete;

  template <class Work>
  [[nodiscard]] std::optional<std::uint64_t> of(Work work) const {
    const std::uint64_t before = now();
    work();
    if (events_.empty()) return std::nullopt;
    return now() - before - of_reading_;
  }

 private:
  system_call_counter(const std::vector<const char*>& points, const std::string& only, std::uint64_t of_reading)
      : of_reading_(only.empty() ? of_reading : 0) {
    for (const char* point : points) {
      const int event = open_event(point, only);
      if (event >= 0) events_.push_back(event);
    }
  }

  static int open_event(const char* point, const std::string& only) {
    std::uint64_t id = 0;
    for (const char* tracing : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
      if (id == 0) std::ifstream(std::string(tracing) + "/events/" + point + "/id") >> id;
    }
    if (id == 0) return -1;
    perf_event_attr wanted{};
    wanted.size = sizeof wanted;
    wanted.type = PERF_TYPE_TRACEPOINT;
    wanted.config = id;
    wanted.inherit = 1;
    const int event = static_cast<int>(::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (event < 0 || only.empty() || ::ioctl(event, PERF_EVENT_IOC_SET_FILTER, only.c_str()) == 0) return event;
    ::close(event);
    return -1;
  }

  [[nodiscard]] std::uint64_t now() const {
    std::uint64_t all = 0;
    for (const int event : events_) {
      std::uint64_t count = 0;
      if (::read(event, &count, sizeof count) == sizeof count) all += count;
    }
    return all;
  }

  std::vector<int> events_;
  std::uint64_t of_reading_ = 0;  // a read of the count is a call as well
};

}  // namespace mpiacq::bench

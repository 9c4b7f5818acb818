// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mpiacq::bench {

/// Counts the system calls of this thread, and of all threads and processes that it makes once this exists, by the
/// kernel's own tracepoint. Where that may not be used (it takes root, as a rule), there is no count.
class system_call_counter {
 public:
  system_call_counter() {
    std::uint64_t id = 0;
    for (const char* tracing : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
      if (id == 0) std::ifstream(std::string(tracing) + "/events/raw_syscalls/sys_enter/id") >> id;
    }
    if (id == 0) return;
    perf_event_attr wanted{};
    wanted.size = sizeof wanted;
    wanted.type = PERF_TYPE_TRACEPOINT;
    wanted.config = id;
    wanted.inherit = 1;
    event_ = static_cast<int>(::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  }
  ~system_call_counter() {
    if (event_ >= 0) ::close(event_);
  }
  system_call_counter(const system_call_counter&) = delete;
  system_call_counter& operator=(const system_call_counter&) = delete;

  template <class Work>
  [[nodiscard]] std::optional<std::uint64_t> of(Work work) const {
    const std::uint64_t before = now();
    work();
    if (event_ < 0) return std::nullopt;
    constexpr std::uint64_t of_reading = 1;
    return now() - before - of_reading;
  }

 private:
  [[nodiscard]] std::uint64_t now() const {
    std::uint64_t count = 0;
    if (event_ >= 0 && ::read(event_, &count, sizeof count) != sizeof count) count = 0;
    return count;
  }
  int event_ = -1;
};

}  // namespace mpiacq::bench

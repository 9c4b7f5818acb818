// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "kernel/code_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "kernel/bounded_call.hpp"
#include "kernel/proc_files.hpp"

namespace mpiacq::tracing {

result<void> code_memory::write_and_verify(pid_t process, target_address address, std::span<const std::byte> bytes) {
  TRY(write(process, address, bytes));
  std::vector<std::byte> there(bytes.size());
  TRY(read(process, address, there));
  if (std::equal(bytes.begin(), bytes.end(), there.begin())) return {};
  return fail(
      error{error_code::unreadable_memory,
            fmt::format("the code at {:#x} of process {} did not take what was written", address.value(), process)}
          .at(address));
}

bool code_memory::holds(pid_t process, target_address address, std::span<const std::byte> bytes) {
  std::vector<std::byte> there(bytes.size());
  return read(process, address, there) && std::equal(bytes.begin(), bytes.end(), there.begin());
}

namespace {

result<unique_fd> open_memory(pid_t process, int mode) {
  const std::string path = fmt::format("/proc/{}/mem", process);
  unique_fd file{::open(path.c_str(), mode | O_CLOEXEC)};
  if (file) return file;
  if (no_descriptor_is_left()) return fail(no_descriptor_for("opening the memory", process));
  const error_code code = errno == ENOENT || errno == ESRCH ? error_code::process_gone : error_code::permission;
  return fail(
      error{code, fmt::format("the memory of process {} cannot be opened", process)}.with_errno(errno).on(path));
}

result<void> moved(ssize_t count, std::size_t wanted, pid_t process, target_address address, const char* verb) {
  if (count == static_cast<ssize_t>(wanted)) return {};
  // A read from the memory file of an ended process returns 0 bytes.
  if (count == 0) {
    return fail(error_code::process_gone, fmt::format("process {} has ended", process));
  }
  return fail(error{error_code::unreadable_memory,
                    fmt::format("the code at {:#x} of process {} cannot be {}", address.value(), process, verb)}
                  .with_errno(count < 0 ? errno : EIO)
                  .at(address));
}

result<void> read_code_by(pid_t process, target_address address, std::span<std::byte> into) {
  const auto file = TRY(open_memory(process, O_RDONLY));
  const ssize_t got = ::pread(file.get(), into.data(), into.size(), static_cast<off_t>(address.value()));
  return moved(got, into.size(), process, address, "read");
}

result<void> write_code_by(pid_t process, target_address address, std::span<const std::byte> bytes) {
  const auto file = TRY(open_memory(process, O_RDWR));
  const ssize_t put = ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(address.value()));
  return moved(put, bytes.size(), process, address, "written");
}

/// How long the tracer server waits for the memory of one process. All other processes wait meanwhile.
constexpr std::chrono::milliseconds memory_limit{1000};

error no_answer(pid_t process, target_address address) {
  return error{error_code::timed_out,
               fmt::format("the memory of process {} at {:#x} did not answer within {} ms: the file or the server "
                           "behind it may hang",
                           process, address.value(), memory_limit.count())}
      .at(address);
}

/// Uses the leader's number, or another thread's if the leader has ended: a zombie has no memory.
template <class Access>
result<void> by_a_living_thread(pid_t process, Access access) {
  auto outcome = access(process);
  if (outcome || outcome.error().code != error_code::process_gone) return outcome;
  const auto other = living_thread(process);
  return other && *other != process ? access(*other) : outcome;
}

}  // namespace

result<void> proc_code_memory::read(pid_t process, target_address address, std::span<std::byte> into) {
  using bytes_read = result<std::vector<std::byte>>;
  auto outcome = call_within<bytes_read>(memory_limit, [process, address, size = into.size()]() -> bytes_read {
    std::vector<std::byte> bytes(size);
    TRY(by_a_living_thread(process, [&](pid_t task) { return read_code_by(task, address, bytes); }));
    return bytes;
  });
  if (!outcome) return fail(no_answer(process, address));
  if (!*outcome) return fail(std::move(*outcome).error());
  std::copy((*outcome)->begin(), (*outcome)->end(), into.begin());
  return {};
}

result<void> proc_code_memory::write(pid_t process, target_address address, std::span<const std::byte> bytes) {
  auto outcome = call_within<result<void>>(
      memory_limit, [process, address, own = std::vector<std::byte>(bytes.begin(), bytes.end())] {
        return by_a_living_thread(process, [&](pid_t task) { return write_code_by(task, address, own); });
      });
  return outcome ? std::move(*outcome) : fail(no_answer(process, address));
}

}  // namespace mpiacq::tracing

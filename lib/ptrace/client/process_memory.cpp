// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include "kernel/proc_files.hpp"
#include "mpiacq/process/process_user.hpp"
#include "mpiacq/process/tracer.hpp"

namespace mpiacq {

namespace {

using tracing::unique_fd;

constexpr std::size_t most_ranges = 1024;  // UIO_MAXIOV: the limit of one process_vm_readv
static_assert(most_ranges <= IOV_MAX);
// The kernel moves at most this much in one call (MAX_RW_COUNT is a page less than 2 GiB).
constexpr std::size_t most_bytes = std::size_t{1} << 30;

std::string memory_path(process_id pid) {
  return fmt::format("/proc/{}/mem", pid.value());
}

error gone(process_id pid) {
  return error{error_code::process_gone, fmt::format("process {} has ended", pid.value())};
}

error no_descriptor(process_id pid) {
  return tracing::no_descriptor_for("looking at the memory", static_cast<pid_t>(pid.value()));
}

error refused(process_id pid, int errno_value) {
  return error{
      error_code::permission,
      fmt::format("the memory of process {} may not be read; it belongs to another user, or Yama or a security "
                  "policy forbids ptrace",
                  pid.value())}
      .with_errno(errno_value)
      .on(memory_path(pid));
}

/// The next unfinished ranges, in the form of one call.
struct batch {  // NOLINT(cppcoreguidelines-pro-type-member-init): `count` says how many ranges are set
  std::array<iovec, most_ranges> local;
  std::array<iovec, most_ranges> remote;
  std::size_t count = 0;
  std::size_t bytes = 0;

  void fill(std::span<memory_range> ranges) {
    count = bytes = 0;
    for (memory_range& range : ranges) {
      const std::size_t wanted = std::min(range.into.size() - range.got, most_bytes - bytes);
      local[count] = {range.into.data() + range.got, wanted};
      remote[count] = {reinterpret_cast<void*>(range.address.value() + range.got), wanted};
      ++count;
      bytes += wanted;
      // A range that does not fit must be the last one, so that the received bytes belong to the ranges in order.
      if (count == most_ranges || bytes == most_bytes || wanted < range.into.size() - range.got) return;
    }
  }
};

/// Assigns `moved` bytes to the ranges in order. Returns the number of ranges that are full now.
std::size_t distribute(std::span<memory_range> ranges, std::size_t moved) {
  std::size_t full = 0;
  for (memory_range& range : ranges) {
    const std::size_t taken = std::min(range.into.size() - range.got, moved);
    range.got += taken;
    moved -= taken;
    if (range.got < range.into.size()) return full;
    ++full;
  }
  return full;
}

/// A read through the memory file, for kernels and containers that refuse process_vm_readv. It stops at the first
/// unreadable byte.
result<void> read_through_file(process_id pid, std::span<memory_range> ranges) {
  const unique_fd file{::open(memory_path(pid).c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file) {
    if (tracing::no_descriptor_is_left()) return fail(no_descriptor(pid));
    if (errno == ENOENT || errno == ESRCH) return fail(gone(pid));
    return fail(refused(pid, errno));
  }
  for (memory_range& range : ranges) {
    while (range.got < range.into.size()) {
      const auto rest = range.into.subspan(range.got);
      const auto from = static_cast<off_t>(range.address.value() + range.got);
      const ssize_t got = ::pread(file.get(), rest.data(), std::min(rest.size(), most_bytes), from);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      range.got += static_cast<std::size_t>(got);
    }
  }
  return {};
}

enum class step : std::uint8_t { moved, stuck, gone, refused };

step read_some(process_id pid, const batch& pieces, std::size_t& moved) {
  const ssize_t got = ::process_vm_readv(static_cast<pid_t>(pid.value()), pieces.local.data(), pieces.count,
                                         pieces.remote.data(), pieces.count, 0);
  if (got > 0) {
    moved = static_cast<std::size_t>(got);
    return step::moved;
  }
  if (got == 0 || errno == EFAULT) return step::stuck;
  if (errno == ESRCH) return step::gone;
  return step::refused;
}

/// The call is documented not to split a range, so that it may refuse a range with an unreadable end. The first page of
/// the range is then tried alone.
step read_first_page(process_id pid, memory_range& first, batch& pieces, std::size_t& moved) {
  const std::size_t rest = read_page_size - (first.address.value() + first.got) % read_page_size;
  if (rest >= first.into.size() - first.got) return step::stuck;
  memory_range page{first.address + first.got, first.into.subspan(first.got, rest)};
  pieces.fill({&page, 1});
  return read_some(pid, pieces, moved);
}

bool has_any(std::span<const memory_range> ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [](const memory_range& r) { return r.got != 0; });
}

/// Reads through one task's number. gone: the task has no memory. An error affects every read.
result<step> read_all(process_id task, std::span<memory_range> ranges) {
  for (memory_range& range : ranges) range.got = 0;
  batch pieces;
  step outcome = step::stuck;
  auto rest = ranges;
  bool was_split = false;  // the kernel has read only the beginning of the first range: the rest is unreadable
  while (!rest.empty()) {
    if (rest.front().got == rest.front().into.size()) {
      rest = rest.subspan(1);
      continue;
    }
    std::size_t moved = 0;
    pieces.fill(rest);
    step what = read_some(task, pieces, moved);
    const bool tries_page = what == step::stuck && !was_split;
    if (tries_page) what = read_first_page(task, rest.front(), pieces, moved);
    switch (what) {
      case step::moved:
        outcome = step::moved;
        rest = rest.subspan(distribute(rest, moved));
        was_split = !tries_page && !rest.empty() && rest.front().got != 0;
        break;
      case step::stuck:
        // The rest of this range is unreadable. Other ranges may be readable.
        rest = rest.subspan(1);
        was_split = false;
        break;
      case step::gone:
        return step::gone;
      case step::refused:
        if (auto read = read_through_file(task, rest); !read) return fail(std::move(read).error());
        return has_any(ranges) ? step::moved : step::stuck;
    }
  }
  return outcome;
}

}  // namespace

result<void> process_memory::read_ranges(std::span<memory_range> ranges) {
  auto outcome = read_all(pid_, ranges);
  if (outcome && *outcome != step::moved && !ranges.empty()) {
    // Nothing was read. The memory may be unreadable, or the leader has ended and another thread's number gives access
    // to it.
    errno = 0;
    const auto task = tracing::living_thread(static_cast<pid_t>(pid_.value()));
    if (!task) outcome = fail(tracing::no_descriptor_is_left() ? no_descriptor(pid_) : gone(pid_));
    if (task && *task != pid_.value()) outcome = read_all(process_id{*task}, ranges);
  }
  if (outcome) return {};
  for (memory_range& range : ranges) range.got = 0;
  return fail(std::move(outcome).error());
}

result<void> process_memory::write(target_address address, std::span<const std::byte> bytes) {
  errno = 0;
  const auto task = tracing::living_thread(static_cast<pid_t>(pid_.value()));
  if (!task) return fail(tracing::no_descriptor_is_left() ? no_descriptor(pid_) : gone(pid_));
  const std::string path = memory_path(process_id{*task});
  const unique_fd file{::open(path.c_str(), O_RDWR | O_CLOEXEC)};
  if (!file) {
    if (tracing::no_descriptor_is_left()) return fail(no_descriptor(pid_));
    if (errno == ENOENT || errno == ESRCH) return fail(gone(pid_));
    return fail(refused(pid_, errno));
  }
  // The file stays bound to the memory of the current program: after an exec of another user's program it gives no
  // access to the new memory. The user is therefore checked after the open.
  if (auto why = user_ ? why_no_rank(pid_, *user_) : std::nullopt) return fail(std::move(*why));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto to = static_cast<off_t>(address.value() + done);
    const ssize_t put = ::pwrite(file.get(), bytes.data() + done, std::min(bytes.size() - done, most_bytes), to);
    if (put < 0 && errno == EINTR) continue;
    if (put > 0) {
      done += static_cast<std::size_t>(put);
      continue;
    }
    // A write to the memory file of an ended process writes 0 bytes.
    if (put == 0) return fail(gone(pid_));
    return fail(error{error_code::unreadable_memory, fmt::format("memory at {:#x} of process {} cannot be written",
                                                                 address.value() + done, pid_.value())}
                    .with_errno(errno)
                    .at(address + done));
  }
  return {};
}

}  // namespace mpiacq

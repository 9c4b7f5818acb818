// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "elf/input_file.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "errors/try.hpp"

namespace mpiacq::elf {

namespace {

error_code code_of(int errno_value) {
  switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
      return error_code::not_found;
    case EACCES:
    case EPERM:
      return error_code::permission;
    default:
      return error_code::system;
  }
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

tl::unexpected<error> not_regular(mode_t mode, const std::string& name) {
  return fail(
      error{error_code::bad_format, fmt::format("{} is {}, not a program or library", name, kind_of(mode))}.on(name));
}

tl::unexpected<error> cannot_open(const std::string& name, int why) {
  return fail(error{code_of(why), fmt::format("{} cannot be opened", name)}.with_errno(why).on(name));
}

/// Linkers align their output to pages of at most 64 KiB, and file systems make holes of zeros of similar sizes.
constexpr std::uint64_t largest_hole = std::uint64_t{1} << 20;
constexpr int most_holes = 4096;

}  // namespace

/// A descriptor with O_PATH: it refers to a file that has not been opened.
struct input_file::place {
  explicit place(int opened) : descriptor(opened) {}
  ~place() {
    if (descriptor >= 0) ::close(descriptor);
  }
  place(const place&) = delete;
  place& operator=(const place&) = delete;
  int descriptor;
};

result<input_file> input_file::open(const std::string& path, std::string name) {
  if (name.empty()) name = path;
  const place found{::open(path.c_str(), O_PATH | O_CLOEXEC)};
  if (found.descriptor < 0) return cannot_open(name, errno);
  return open_place(found, std::move(name));
}

result<input_file> input_file::open_below(const std::string& root, const std::string& path, std::string name) {
  const std::string plain = root + (root.empty() || path.starts_with('/') ? "" : "/") + path;
  if (root.empty()) return open(path, std::move(name));
  if (name.empty()) name = plain;
  // In a container, an absolute link must be resolved against the container's root, not ours.
  const place folder{::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (folder.descriptor < 0) return open(plain, std::move(name));
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT;
  const place found{static_cast<int>(::syscall(SYS_openat2, folder.descriptor, path.c_str(), &how, sizeof how))};
  if (found.descriptor >= 0) return open_place(found, std::move(name));
  const int why = errno;
  if (why == ENOSYS || why == EPERM) return open(plain, std::move(name));  // an old kernel, a filter
  return cannot_open(name, why);
}

/// Opens the file that an O_PATH descriptor refers to, after the check that it is a regular file. Later changes of its
/// name have no effect.
result<input_file> input_file::open_place(const place& found, std::string name) {
  struct stat status {};
  if (::fstat(found.descriptor, &status) != 0) return cannot_open(name, errno);
  if (!S_ISREG(status.st_mode)) return not_regular(status.st_mode, name);
  // O_NONBLOCK: a file with a lease does not block this process until its holder releases the lease.
  const int descriptor =
      ::open(fmt::format("/proc/self/fd/{}", found.descriptor).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return cannot_open(name, errno);
  return adopt(descriptor, std::move(name));
}

result<input_file> input_file::adopt(int descriptor, std::string name) {
  input_file file{descriptor, 0, std::move(name)};
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    const int why = errno;
    return fail(error{error_code::system, fmt::format("{} cannot be examined", file.name_)}.with_errno(why));
  }
  if (!S_ISREG(status.st_mode)) return not_regular(status.st_mode, file.name_);
  file.size_ = static_cast<std::uint64_t>(status.st_size);
  return file;
}

input_file::~input_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

input_file& input_file::operator=(input_file&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  std::swap(name_, other.name_);
  return *this;
}

result<std::size_t> input_file::read_some(std::uint64_t offset, std::span<std::byte> into) const {
  std::size_t got = 0;
  while (got < into.size() && offset + got < size_) {
    const ssize_t count = ::pread(descriptor_, into.data() + got, into.size() - got, static_cast<off_t>(offset + got));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int why = errno;
      return fail(error{error_code::system, fmt::format("{} cannot be read", name_)}.with_errno(why).on(name_));
    }
    if (count == 0) break;
    got += static_cast<std::size_t>(count);
  }
  return got;
}

error input_file::truncated(std::uint64_t offset, std::uint64_t size) const {
  return error{error_code::bad_format,
               fmt::format("{} is truncated: it should have {} bytes at {:#x}, but the file ends at {:#x}", name_, size,
                           offset, size_)}
      .on(name_);
}

result<void> input_file::read_whole(std::uint64_t offset, std::span<std::byte> into) const {
  if (offset > size_ || into.size() > size_ - offset) return fail(truncated(offset, into.size()));
  const auto got = TRY(read_some(offset, into));
  if (got < into.size()) return fail(truncated(offset, into.size()));
  return {};
}

result<void> input_file::check_is_stored(std::uint64_t offset, std::uint64_t size) const {
  if (offset > size_ || size > size_ - offset) return fail(truncated(offset, size));
  if (size <= largest_hole) return {};
  const std::uint64_t end = offset + size;
  std::uint64_t at = offset;
  for (int holes = 0; at < end; ++holes) {
    const off_t hole = ::lseek(descriptor_, static_cast<off_t>(at), SEEK_HOLE);
    if (hole < 0 || static_cast<std::uint64_t>(hole) >= end) return {};
    const off_t data = ::lseek(descriptor_, hole, SEEK_DATA);  // fails if nothing follows the hole
    const std::uint64_t next = data < 0 ? end : std::min(end, static_cast<std::uint64_t>(data));
    if (next - static_cast<std::uint64_t>(hole) > largest_hole || holes == most_holes) {
      return fail(
          error{error_code::limit,
                fmt::format("{} claims to have {} bytes at {:#x}, but they are mostly a hole in the file (it is "
                            "sparse): they are not read",
                            name_, size, offset)}
              .on(name_));
    }
    at = next;
  }
  return {};
}

result<std::vector<std::byte>> input_file::read(std::uint64_t offset, std::uint64_t size) const {
  if (size > largest_read) {
    return fail(error{error_code::limit, fmt::format("{} claims to have {} bytes at {:#x}, more than the {} that are "
                                                     "read at once",
                                                     name_, size, offset, largest_read)}
                    .on(name_));
  }
  TRY(check_is_stored(offset, size));
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  TRY(read_whole(offset, bytes));
  return bytes;
}

}  // namespace mpiacq::elf

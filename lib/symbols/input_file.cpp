// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "input_file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

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

}  // namespace

result<input_file> input_file::open(const std::string& path, std::string name) {
  if (name.empty()) name = path;
  const auto failed = [&](int why) {
    return fail(error{code_of(why), fmt::format("{} cannot be opened", name)}.with_errno(why).on(name));
  };
  // To open a device can be to act on it, so that what is no regular file is not opened at all. Should it become a
  // pipe meanwhile, the open does not wait for a writer.
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return failed(errno);
  if (!S_ISREG(status.st_mode)) return not_regular(status.st_mode, name);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return failed(errno);
  return adopt(descriptor, std::move(name));
}

result<input_file> input_file::open_below(const std::string& root, const std::string& path, std::string name) {
  const std::string plain = root + (root.empty() || path.starts_with('/') ? "" : "/") + path;
  if (root.empty()) return open(path, std::move(name));
  if (name.empty()) name = plain;
  // An absolute link in a container leads to our own files if it is followed from here.
  const int folder = ::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return open(plain, std::move(name));
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT;
  const auto place = static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how));
  const int why = errno;
  ::close(folder);
  if (place < 0 && (why == ENOSYS || why == EPERM)) return open(plain, std::move(name));  // an old kernel, a filter
  if (place < 0) return fail(error{code_of(why), fmt::format("{} cannot be opened", name)}.with_errno(why).on(name));
  // The way to open what an O_PATH descriptor stands for.
  auto file = open(fmt::format("/proc/self/fd/{}", place), std::move(name));
  ::close(place);
  return file;
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
  const auto got = read_some(offset, into);
  if (!got) return fail(got.error());
  if (*got < into.size()) return fail(truncated(offset, into.size()));
  return {};
}

result<std::vector<std::byte>> input_file::read(std::uint64_t offset, std::uint64_t size) const {
  // The file's size bounds nothing where the file is sparse.
  constexpr std::uint64_t max_read = std::uint64_t{1} << 31;
  if (size > max_read) {
    return fail(error{error_code::limit, fmt::format("{} claims to have {} bytes at {:#x}, more than the {} that are "
                                                     "read at once",
                                                     name_, size, offset, max_read)}
                    .on(name_));
  }
  if (offset > size_ || size > size_ - offset) return fail(truncated(offset, size));
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  if (auto whole = read_whole(offset, bytes); !whole) return fail(std::move(whole).error());
  return bytes;
}

}  // namespace mpiacq::elf

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "core_dump/sparse_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "mpiacq/base/memory.hpp"

namespace mpiacq::elf {

namespace {

bool is_zero(std::span<const std::byte> bytes) {
  return bytes.empty() ||
         (bytes[0] == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

}  // namespace

sparse_file::sparse_file(int descriptor, std::string what, std::optional<std::uint64_t> most)
    : descriptor_(descriptor), what_(std::move(what)), most_(most) {
  rlimit largest{};
  const bool is_known = ::getrlimit(RLIMIT_FSIZE, &largest) == 0 && largest.rlim_cur != RLIM_INFINITY;
  largest_ = is_known ? std::uint64_t{largest.rlim_cur} : INT64_MAX;
}

result<sparse_file> sparse_file::open(int descriptor, std::string what, std::optional<std::uint64_t> most) {
  struct stat about {};
  const int flags = ::fcntl(descriptor, F_GETFL);
  const char* wrong = nullptr;
  if (flags < 0 || ::fstat(descriptor, &about) != 0) {
    wrong = "is not open";
  } else if (!S_ISREG(about.st_mode)) {
    wrong = "is not a regular file";
  } else if (about.st_size != 0) {
    wrong = "is not empty";
  } else if ((flags & O_ACCMODE) == O_RDONLY || (flags & O_APPEND) != 0) {
    wrong = "must be open for writing at any place";
  }
  if (wrong != nullptr) {
    return fail(error_code::invalid_argument, fmt::format("the descriptor {} for {} {}", descriptor, what, wrong));
  }
  return sparse_file(descriptor, std::move(what), most);
}

bool sparse_file::has_room(std::uint64_t bytes) const {
  return !most_ || (*most_ >= stored_ + reserved_ && *most_ - stored_ - reserved_ >= bytes);
}

tl::unexpected<error> sparse_file::failure(int why) const {
  return fail(error{error_code::system, fmt::format("writing {}, after {} bytes", what_, stored_)}.with_errno(why));
}

result<void> sparse_file::put(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    // Beyond its limit the kernel would send SIGXFSZ, which ends most programs.
    if (offset > largest_ || largest_ - offset < bytes.size()) return failure(EFBIG);
    const ssize_t count = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failure(count < 0 ? errno : ENOSPC);
    stored_ += static_cast<std::uint64_t>(count);
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

result<std::size_t> sparse_file::put_pages(std::uint64_t offset, std::span<const std::byte> bytes) {
  const auto page_at = [&](std::size_t at) { return bytes.subspan(at, std::min(read_page_size, bytes.size() - at)); };
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t end = at;
    while (end < bytes.size() && !is_zero(page_at(end)) && has_room(end - at + page_at(end).size())) {
      end += page_at(end).size();
    }
    if (end == at) {
      if (!is_zero(page_at(at))) return at;  // no room
      at += page_at(at).size();
      continue;
    }
    TRY(put(offset + at, bytes.subspan(at, end - at)));
    at = end;
  }
  return bytes.size();
}

result<void> sparse_file::end_at(std::uint64_t length) {
  if (length > largest_) return failure(EFBIG);
  if (::ftruncate(descriptor_, static_cast<off_t>(length)) != 0) return failure(errno);
  return {};
}

}  // namespace mpiacq::elf

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/process/process_maps.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace mpiacq {

namespace {

/// The kernel returns one page per read, mostly 4 KiB.
constexpr std::size_t piece_of_maps = 16384;
/// The size of some two million mappings: more than a process may have.
constexpr std::size_t most_of_maps = std::size_t{256} << 20;

}  // namespace

result<std::string> read_process_maps(process_id process) {
  const std::string path = fmt::format("/proc/{}/maps", process.value());
  const auto failed = [&](int why) {
    const bool gone = why == ENOENT || why == ESRCH;
    const bool refused = why == EACCES || why == EPERM;
    return fail(error{gone      ? error_code::process_gone
                      : refused ? error_code::permission
                                : error_code::system,
                      fmt::format("reading the mappings of process {}", process.value())}
                    .with_errno(why)
                    .on(path));
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return failed(errno);
  std::string text;
  std::array<char, piece_of_maps> piece;
  int why = 0;
  while (text.size() < most_of_maps) {
    const ssize_t got = ::read(descriptor, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) why = errno;
    if (got <= 0) break;
    if (text.empty()) text.reserve(piece.size());
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  ::close(descriptor);
  if (why != 0) return failed(why);
  if (text.empty()) return failed(ESRCH);  // a zombie has no mappings
  return text;
}

}  // namespace mpiacq

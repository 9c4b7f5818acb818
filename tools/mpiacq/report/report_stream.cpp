// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/report_stream.hpp"

#include <algorithm>
#include <cerrno>

#include <poll.h>
#include <unistd.h>

#include "report/colours.hpp"
#include "text/printable.hpp"

namespace mpiacq::tool {

int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
    if (written >= 0 || errno == EINTR) continue;
    // Another process with the same terminal or pipe may have made it non-blocking.
    if (errno != EAGAIN) return errno;
    pollfd room{descriptor, POLLOUT, 0};
    (void)::poll(&room, 1, -1);
  }
  return 0;
}

void report_stream::write(std::string_view text) {
  // In pieces, so that the buffer stays small. Each ends at the end of a line, so that no character is cut in two.
  while (!text.empty()) {
    std::size_t end = text.find('\n', std::min(most_kept, text.size() - 1));
    end = end == std::string_view::npos ? text.size() : end + 1;
    if (colour_) {
      base::append_guarded(buffer_, text.substr(0, end), colours::sequences);
    } else {
      base::append_guarded(buffer_, text.substr(0, end));
    }
    text.remove_prefix(end);
    if (buffer_.size() >= most_kept) flush();
  }
}

void report_stream::flush() {
  if (failure_ == 0) failure_ = write_all(descriptor_, buffer_);
  buffer_.clear();
}

}  // namespace mpiacq::tool

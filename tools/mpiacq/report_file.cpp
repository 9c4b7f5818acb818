// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mpiacq::tool {

result<report_file> report_file::open(const std::string& file, int default_descriptor) {
  if (file.empty()) return report_file{default_descriptor, false, {}};
  if (file == "-") return report_file{STDOUT_FILENO, false, {}};
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    return fail(error{error_code::system, fmt::format("opening the report file {}", file)}.with_errno(errno).on(file));
  }
  return report_file{descriptor, true, file};
}

report_file::report_file(int descriptor, bool owned, std::string path)
    : descriptor_(descriptor), owned_(owned), path_(std::move(path)) {
  struct stat kind {};
  replaces_ = owned && ::fstat(descriptor, &kind) == 0 && S_ISREG(kind.st_mode);
}

report_file::report_file(report_file&& other) noexcept
    : descriptor_(other.descriptor_),
      owned_(std::exchange(other.owned_, false)),
      replaces_(other.replaces_),
      path_(std::move(other.path_)) {}

report_file::~report_file() {
  if (owned_) ::close(descriptor_);
}

result<void> report_file::write(std::string_view report) {
  const auto failed = [&](int reason) {
    return fail(error{error_code::system, "writing the report"}.with_errno(reason).on(path_));
  };
  if (replaces_ && (::ftruncate(descriptor_, 0) != 0 || ::lseek(descriptor_, 0, SEEK_SET) != 0)) return failed(errno);
  while (!report.empty()) {
    const ssize_t written = ::write(descriptor_, report.data(), report.size());
    if (written < 0 && errno != EINTR) return failed(errno);
    if (written > 0) report.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

bool report_file::is_terminal() const {
  return ::isatty(descriptor_) == 1;
}

bool report_file::wants_colour() const {
  const char* refusal = std::getenv("NO_COLOR");
  return is_terminal() && (refusal == nullptr || *refusal == '\0');
}

}  // namespace mpiacq::tool

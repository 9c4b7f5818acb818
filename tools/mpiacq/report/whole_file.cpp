// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/whole_file.hpp"

#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/complaints.hpp"
#include "descriptors/unique_fd.hpp"
#include "errors/try.hpp"
#include "report/output_queue.hpp"
#include "text/file_name.hpp"

namespace mpiacq::tool {

namespace {

constexpr mode_t readable_by_umask = 0666;

error failed(const char* what, const std::string& path) {
  return error{error_code::system, fmt::format("{} {}", what, path)}.with_errno(errno).on(path);
}

/// A name beside the file that no other file has.
std::string name_beside(const std::string& path) {
  std::random_device random;
  return fmt::format("{}.{:08x}{:08x}.part", path, random(), random());
}

/// Whether the path leads to something that cannot be replaced: a device or a pipe.
bool is_stream(const std::string& path) {
  struct stat kind {};
  return ::stat(path.c_str(), &kind) == 0 && !S_ISREG(kind.st_mode) && !S_ISDIR(kind.st_mode);
}

}  // namespace

struct whole_file::place {
  std::string path;
  std::string beside;  ///< the name of the new file; empty while it has none
  base::unique_fd descriptor;
  bool direct = false;  ///< the path itself is open

  place() = default;
  place(const place&) = delete;
  place& operator=(const place&) = delete;
  ~place() {
    if (!beside.empty()) ::unlink(beside.c_str());
  }

  result<void> open(bool into_streams) {
    direct = into_streams && is_stream(path);
    if (direct) {
      descriptor = base::unique_fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    } else {
      const std::string folder{base::folder_of(path)};
      descriptor = base::unique_fd(
          ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, readable_by_umask));
      // Some file systems, NFS among them, have no files without names.
      if (!descriptor) open_beside();
    }
    if (!descriptor) return fail(failed("creating the report file", path));
    return {};
  }
  /// Gives the file its name.
  result<void> publish() {
    if (direct) return {};
    if (beside.empty()) {
      std::string unused = name_beside(path);
      const std::string link = fmt::format("/proc/self/fd/{}", descriptor.get());
      if (::linkat(AT_FDCWD, link.c_str(), AT_FDCWD, unused.c_str(), AT_SYMLINK_FOLLOW) != 0) {
        return fail(failed("naming the report file", path));
      }
      beside = std::move(unused);
    }
    if (std::rename(beside.c_str(), path.c_str()) != 0) return fail(failed("naming the report file", path));
    beside.clear();
    return {};
  }

 private:
  void open_beside() {
    std::string unused = name_beside(path);
    descriptor = base::unique_fd(::open(unused.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, readable_by_umask));
    if (descriptor) beside = std::move(unused);
  }
};

result<whole_file> whole_file::open(const std::string& path) {
  auto where = std::make_shared<place>();
  where->path = path;
  TRY(where->open(true));
  return whole_file(std::move(where));
}

result<whole_file> whole_file::open_to_replace(const std::string& path) {
  auto where = std::make_shared<place>();
  where->path = path;
  TRY(where->open(false));
  return whole_file(std::move(where));
}

void whole_file::write(std::function<void(report_stream&)> body, std::function<void()> otherwise) const {
  the_output().add([where = place_, body = std::move(body), otherwise = std::move(otherwise)] {
    report_stream stream(where->descriptor.get(), false);
    body(stream);
    stream.flush();
    result<void> done;
    if (const int problem = stream.failure(); problem != 0) {
      errno = problem;
      done = fail(failed("writing the report file", where->path));
    } else {
      done = where->publish();
    }
    if (done) return;
    complain(done.error());
    otherwise ? otherwise() : the_output().note_failure();
  });
}

}  // namespace mpiacq::tool

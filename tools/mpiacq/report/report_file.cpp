// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/report_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands/complaints.hpp"
#include "report/output_queue.hpp"

namespace mpiacq::tool {

/// Shared with the reports that wait to be written.
struct report_file::place {
  place(int d, std::string p, bool is_document) : descriptor(d), path(std::move(p)) {
    struct stat kind {};
    replaces = is_document && !path.empty() && ::fstat(descriptor, &kind) == 0 && S_ISREG(kind.st_mode);
  }
  ~place() {
    if (!path.empty()) ::close(descriptor);
  }
  place(const place&) = delete;
  place& operator=(const place&) = delete;

  int descriptor;
  std::string path;       ///< empty: a stream that was already open
  bool replaces = false;  ///< each report replaces the last one
};

result<report_file> report_file::open(const report_options& options, int default_descriptor) {
  const std::string& file = options.output;
  const bool is_stream = file.empty() || file == "-";
  const int stream = file.empty() ? default_descriptor : STDOUT_FILENO;
  const int descriptor = is_stream ? stream : ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    return fail(error{error_code::system, fmt::format("opening the report file {}", file)}.with_errno(errno).on(file));
  }
  return report_file{std::make_shared<const place>(descriptor, is_stream ? std::string() : file, options.json)};
}

report_file::report_file(std::shared_ptr<const place> where) : place_(std::move(where)) {}

void report_file::write(report_body body) const {
  the_output().add([where = place_, body = std::move(body), colour = wants_colour()] {
    int problem = 0;
    if (where->replaces && (::ftruncate(where->descriptor, 0) != 0 || ::lseek(where->descriptor, 0, SEEK_SET) != 0)) {
      problem = errno;
    }
    report_stream stream(where->descriptor, colour);
    if (problem == 0) {
      body(stream);
      stream.flush();
      problem = stream.failure();
    }
    if (problem == 0) return;
    the_output().note_failure();
    complain(error{error_code::system, "writing the report"}.with_errno(problem).on(where->path));
  });
}

bool report_file::is_terminal() const {
  return ::isatty(place_->descriptor) == 1;
}

bool report_file::wants_colour() const {
  const char* refusal = std::getenv("NO_COLOR");
  return is_terminal() && (refusal == nullptr || *refusal == '\0');
}

}  // namespace mpiacq::tool

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The process that runs a queue library (see separate_host.hpp). It inherits its socket, the shared memory and the
// library's file at fixed descriptors:
//
//   mqd-host for PID [UID GID]      PID: the tool's. UID GID: the user to become
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "helper/less_rights.hpp"
#include "helper/load_path.hpp"
#include "helper/standard_streams.hpp"
#include "library/library_session.hpp"
#include "library/queue_library_calls.hpp"
#include "separate/queue_messages.hpp"
#include "separate/remote_answers.hpp"
#include "separate/sandbox.hpp"
#include "separate/shared_report.hpp"

using namespace mpiacq;
using namespace mpiacq::mqd_host;

namespace {

/// The report of a confined library. It closes the sandbox once the library is loaded: constructors may still need
/// files, functions may not.
class confining_report final : public shared_report {
 public:
  confining_report(const tool_link& tool, shared_area& area) : shared_report(tool, area) {}
  void calling(entry_point entry) override {
    if (entry > entry_point::load && !std::exchange(closed_, true)) close_sandbox();
    shared_report::calling(entry);
  }

 private:
  bool closed_ = false;
};

bool stand_alone(pid_t tool) {
  // Only after the change of the user: the kernel clears the signal on that change.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || ::getppid() != tool) return false;
  if (::syscall(SYS_close_range, first_free_descriptor, ~0U, 0) != 0) {
    for (int fd = first_free_descriptor; fd < 65536; ++fd) ::close(fd);
  }
  for (int fd = socket_descriptor; fd < first_free_descriptor; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  ::setsid();
  // Output is written line by line, so that a crash does not lose what was printed before.
  ::setvbuf(stdout, nullptr, _IOLBF, 0);
  return ::clearenv() == 0 && ::chdir("/") == 0;
}

result<void> run(const begin_message& begin, const tool_link& tool, shared_area& area) {
  if (begin.version != MPIACQ_VERSION) {
    return fail(
        error_code::unsupported,
        fmt::format("the process of a queue library has version {}, and the tool has another one", MPIACQ_VERSION));
  }
  confining_report report(tool, area);
  const std::string path = base::load_path_of(library_descriptor);
  for (std::string& sentence : enter_sandbox(begin.limits, area.refused_call)) report.note(std::move(sentence));
  area.confined = 1;
  auto library = TRY(queue_library::load(path, begin.library, report, library_descriptor));
  ::close(library_descriptor);
  remote_answers answers(tool, area, begin.abi);
  return run_session(library, answers, begin.facts, begin.limits, report);
}

}  // namespace

// An exception ends this process, and the tool reports that.
int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape)
  if (!base::open_missing_streams()) return 1;
  const bool other_user = argc == 5;
  const long tool_process = (argc == 3 || other_user) && std::string_view{argv[1]} == "for" ? std::atol(argv[2]) : 0;
  if (tool_process <= 0 || ::fcntl(socket_descriptor, F_GETFD) < 0) {
    std::fputs("The mpiacq library starts this program to run message-queue libraries in it.\n", stderr);
    return 2;
  }
  if (other_user) {
    const auto user = static_cast<uid_t>(std::strtoul(argv[3], nullptr, 10));
    const auto group = static_cast<gid_t>(std::strtoul(argv[4], nullptr, 10));
    if (base::become(user, group) != 0) return 1;
  }
  if (!stand_alone(static_cast<pid_t>(tool_process))) return 1;
  auto area = shared_memory::adopt(base::unique_fd{memory_descriptor});
  const auto first = base::receive_frame(socket_descriptor, longest_answer);
  const auto begin = first ? decode<begin_message>(*first) : std::nullopt;
  if (!area || !begin) return 1;
  const tool_link tool(socket_descriptor);
  auto outcome = run(*begin, tool, **area);
  std::fflush(nullptr);
  tool.tell(end_message{std::move(outcome)});
  // The tool kills this process when it has taken everything, so that the library's destructors do not run.
  static_cast<void>(base::receive_frame(socket_descriptor, longest_answer));
  ::_exit(0);
}

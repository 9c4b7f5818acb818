// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The process that runs a queue library (see separate_host.hpp). It inherits its socket, the shared memory and the
// library's file at fixed descriptors:
//
//   mqd-host for PID [UID GID]      PID: the tool's. UID GID: the user to become
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "helper/helper_begin.hpp"
#include "helper/load_path.hpp"
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
  const int status = base::begin_helper(argc, argv, first_free_descriptor, "run message-queue libraries in it");
  if (status != 0) return status;
  if (::clearenv() != 0) return 1;
  auto area = shared_memory::adopt(base::unique_fd{memory_descriptor});
  const auto first = base::receive_frame(base::helper_socket, longest_answer);
  const auto begin = first ? decode<begin_message>(*first) : std::nullopt;
  if (!area || !begin) return 1;
  const tool_link tool(base::helper_socket);
  auto outcome = run(*begin, tool, **area);
  std::fflush(nullptr);
  tool.tell(end_message{std::move(outcome)});
  // The tool kills this process when it has taken everything, so that the library's destructors do not run.
  static_cast<void>(base::receive_frame(base::helper_socket, longest_answer));
  ::_exit(0);
}

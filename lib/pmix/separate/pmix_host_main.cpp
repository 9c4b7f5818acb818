// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The process that asks a PMIx server through the library that the starter itself uses (see pmix_session.hpp). It
// inherits its socket and the library's file at fixed descriptors:
//
//   pmix-host for PID [UID GID]      PID: the tool's. UID GID: the user to become
#include <cstdio>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "framing/frames.hpp"
#include "framing/overloaded.hpp"
#include "framing/wire.hpp"
#include "helper/helper_begin.hpp"
#include "separate/pmix_client.hpp"
#include "separate/pmix_confinement.hpp"

using namespace mpiacq;
using namespace mpiacq::pmix;

namespace {

result<void> already_connected() {
  return fail(error_code::invalid_argument, "the connection to the PMIx server exists already");
}

/// A server may crash when a program dies while it connects or says goodbye (docs/sources.md). So from here on the
/// death of the tool does not kill this process: it sees the end of the socket, and says goodbye.
void outlive_the_tool() {
  ::prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0);
}

/// Ends this process if the server does not answer within the time of one object: nobody else may be there to do it.
class answer_watch {
 public:
  answer_watch() { ::alarm(longest_answer); }
  ~answer_watch() { ::alarm(0); }
  answer_watch(const answer_watch&) = delete;
  answer_watch& operator=(const answer_watch&) = delete;

 private:
  static constexpr unsigned longest_answer = 20;  ///< seconds; longer than the tool waits
};

/// The next request of the tool. Empty: the tool has gone.
result<std::optional<request>> next_request() {
  const auto frame = base::receive_frame(base::helper_socket, longest_message);
  if (!frame) return std::nullopt;
  auto asked = base::decode<request>(*frame);
  if (!asked) return fail(error_code::bad_format, "the tool sent a message that is no request");
  return std::move(*asked);
}

/// The library does what the tool asks for. False: the tool asks for no more.
bool serve(pmix_client& client, tool_socket& tool, const request& what) {
  result<void> done;
  answered answer;
  const bool is_last = std::holds_alternative<disconnect>(what);
  std::visit(base::overloaded{[&](const connect_now&) { done = already_connected(); },
                              [&](const ask_job& how) { done = client.tell_job(how); },
                              [&](const release_ranks& these) { done = client.release(these.nspace); },
                              [&](const launch_daemons& these) { done = client.launch(these, answer.nspace); },
                              [&](const disconnect&) { client.disconnect(); }},
             what);
  if (is_last) return false;
  if (done) {
    tool.tell(std::move(answer));
  } else {
    tool.tell(refused{std::move(done).error()});
  }
  return true;
}

/// Serves the tool until it asks for no more, or has gone.
result<void> converse(pmix_client& client, tool_socket& tool) {
  for (;;) {
    const auto asked = next_request();
    const answer_watch watch;
    if (asked && *asked) {
      if (!serve(client, tool, **asked)) return {};
      continue;
    }
    client.disconnect();
    if (!asked) return fail(asked.error());
    return {};
  }
}

result<void> run(const begin_message& begin, tool_socket& tool) {
  if (begin.version != MPIACQ_VERSION) {
    return fail(error_code::unsupported,
                fmt::format("the process that asks PMIx has version {}, and the tool has another one", MPIACQ_VERSION));
  }
  confine_pmix();
  const auto library = TRY(pmix_library::load(library_descriptor, begin.library));
  ::close(library_descriptor);
  pmix_client client(library, tool);
  const auto first = TRY(next_request());
  // The tool may have found another source meanwhile. The server has then not been touched.
  if (!first || !std::holds_alternative<connect_now>(*first)) return {};
  outlive_the_tool();
  {
    const answer_watch watch;
    tool.tell(TRY(client.connect(begin)));
  }
  return converse(client, tool);
}

}  // namespace

// An exception ends this process, and the tool reports that.
int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape)
  const int status = base::begin_helper(argc, argv, first_free_descriptor, "ask the PMIx server of a job");
  if (status != 0) return status;
  const auto first = base::receive_frame(base::helper_socket, longest_message);
  const auto begin = first ? base::decode<begin_message>(*first) : std::nullopt;
  if (!begin) return 1;
  tool_socket tool(base::helper_socket);
  if (auto outcome = run(*begin, tool); !outcome) tool.tell(failed{std::move(outcome).error()});
  std::fflush(nullptr);
  // Threads of the library may still run, so that its destructors must not.
  ::_exit(0);
}

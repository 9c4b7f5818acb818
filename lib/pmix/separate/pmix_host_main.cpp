// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The process that asks a PMIx server through the library that the starter itself uses (see pmix_session.hpp). It
// inherits its socket and the library's file at fixed descriptors:
//
//   pmix-host for PID [UID GID]      PID: the tool's. UID GID: the user to become
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
#include "framing/frames.hpp"
#include "framing/overloaded.hpp"
#include "framing/wire.hpp"
#include "helper/less_rights.hpp"
#include "helper/standard_streams.hpp"
#include "separate/pmix_client.hpp"
#include "separate/pmix_confinement.hpp"

using namespace mpiacq;
using namespace mpiacq::pmix;

namespace {

bool stand_alone(pid_t tool) {
  // Only after the change of the user: the kernel clears the signal on that change.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || ::getppid() != tool) return false;
  if (::syscall(SYS_close_range, first_free_descriptor, ~0U, 0) != 0) {
    for (int fd = first_free_descriptor; fd < 65536; ++fd) ::close(fd);
  }
  for (int fd = socket_descriptor; fd < first_free_descriptor; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  ::setsid();
  ::setvbuf(stdout, nullptr, _IOLBF, 0);
  return ::chdir("/") == 0;
}

/// The library does what the tool asks for. False: the tool asks for no more.
bool answer(pmix_client& client, tool_socket& tool, const request& what) {
  result<void> done;
  const bool is_last = std::holds_alternative<disconnect>(what);
  std::visit(base::overloaded{[&](const ask_job&) { done = client.tell_job(); },
                              [&](const follow_job&) { done = client.follow(); },
                              [&](const release_ranks& these) { done = client.release(these.nspace); },
                              [&](const launch_daemons& these) { done = client.launch(these); },
                              [&](const disconnect&) { client.disconnect(); }},
             what);
  if (is_last) return false;
  if (done) {
    tool.tell(answered{});
  } else {
    tool.tell(refused{std::move(done).error()});
  }
  return true;
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
  tool.tell(TRY(client.connect(begin)));
  while (const auto frame = base::receive_frame(socket_descriptor, longest_message)) {
    const auto asked = base::decode<request>(*frame);
    if (!asked) return fail(error_code::bad_format, "the tool sent a message that is no request");
    if (!answer(client, tool, *asked)) return {};
  }
  return {};
}

}  // namespace

// An exception ends this process, and the tool reports that.
int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape)
  if (!base::open_missing_streams()) return 1;
  const bool other_user = argc == 5;
  const long tool_process = (argc == 3 || other_user) && std::string_view{argv[1]} == "for" ? std::atol(argv[2]) : 0;
  if (tool_process <= 0 || ::fcntl(socket_descriptor, F_GETFD) < 0) {
    std::fputs("The mpiacq library starts this program to ask the PMIx server of a job.\n", stderr);
    return 2;
  }
  if (other_user) {
    const auto user = static_cast<uid_t>(std::strtoul(argv[3], nullptr, 10));
    const auto group = static_cast<gid_t>(std::strtoul(argv[4], nullptr, 10));
    if (base::become(user, group) != 0) return 1;
  }
  if (!stand_alone(static_cast<pid_t>(tool_process))) return 1;
  const auto first = base::receive_frame(socket_descriptor, longest_message);
  const auto begin = first ? base::decode<begin_message>(*first) : std::nullopt;
  if (!begin) return 1;
  tool_socket tool(socket_descriptor);
  if (auto outcome = run(*begin, tool); !outcome) tool.tell(failed{std::move(outcome).error()});
  std::fflush(nullptr);
  // Threads of the library may still run, so that its destructors must not.
  ::_exit(0);
}

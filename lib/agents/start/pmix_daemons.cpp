// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "start/pmix_daemons.hpp"

#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "host/daemon_command.hpp"
#include "proc/process_facts.hpp"
#include "separate/pmix_abi.hpp"
#include "server/pmix_server.hpp"

namespace mpiacq::agents {

namespace {

/// The namespace of the only job of a server. What the job has spawned belongs to it.
result<std::string> only_namespace(const pmix::pmix_answer& answer, process_id server) {
  std::vector<std::string> jobs;
  for (const pmix::pmix_world& one : answer.worlds) {
    if (!one.ranks.empty() && !one.spawned_by) jobs.push_back(one.nspace);
  }
  if (jobs.size() == 1) return std::move(jobs.front());
  if (jobs.empty()) return fail(error_code::not_found, fmt::format("the PMIx server {} runs no job", server.value()));
  return fail(error_code::invalid_argument,
              fmt::format("the PMIx server {} runs {} jobs, and starts agents only if it runs one", server.value(),
                          jobs.size()));
}

}  // namespace

result<pmix_daemons> pmix_daemons::start(process_id server, const std::string& program, const agent_order& order,
                                         int stop) {
  const auto asked = [&]() -> result<pmix_daemons> {
    const auto process = std::make_shared<const process_facts>(TRY(process_facts::open(server)));
    // The server starts daemons as its own user, and agents prove that they belong to the user of this program.
    if (process->user() != user_id{::geteuid()})
      return fail(error_code::permission, fmt::format("the PMIx server {} belongs to another user", server.value()));
    const auto found = TRY(pmix::find_server(process));
    if (!found) return fail(error_code::not_found, fmt::format("process {} is no PMIx server", server.value()));
    if (auto why = pmix::known_harm_of(*found)) return fail(std::move(*why));
    const pmix::session_limits limits;
    const time_limit until{clock::now() + limits.answer_time, stop};
    auto session = TRY(pmix::pmix_session::start(*found, limits, until));
    const auto answer = TRY(session.ask_and_follow(until));
    const auto nspace = TRY(only_namespace(answer, server));
    auto started = TRY(session.launch(nspace, pmix::daemon_that_starts(program, arguments_of(order)), until));
    return pmix_daemons(std::move(session), std::move(started));
  };
  auto done = asked();
  if (!done) return fail(std::move(done).error().while_doing("agents as the debugger daemons of PMIx"));
  return done;
}

std::optional<deadline> pmix_daemons::ended_since() {
  while (!ended_ && !is_over_) {
    const auto event = session_.event();
    is_over_ = !event;
    if (is_over_ || !*event) break;
    if ((*event)->code == pmix::abi::job_end && (*event)->source.nspace == nspace_) ended_ = clock::now();
  }
  return ended_;
}

}  // namespace mpiacq::agents

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "start/starter_daemons.hpp"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "errors/try.hpp"

namespace mpiacq::agents {

namespace {

constexpr auto shell = "/bin/sh";
/// $0 is the agent's path, $@ its arguments.
constexpr auto run_agent_script = "[ -x \"$0\" ] && exec \"$0\" \"$@\" >/dev/null 2>&1; exit 0";
/// The size of MPIR_server_arguments (MPIR 1.1, 9.16). No starter with less is known.
constexpr std::size_t room = 1024;

}  // namespace

result<mpir::daemon_request> daemons_for(const std::string& program, agent_order order) {
  for (;;) {
    mpir::daemon_request request{shell, {"-c", run_agent_script, program}};
    const auto words = arguments_of(order);
    request.arguments.insert(request.arguments.end(), words.begin(), words.end());
    const auto encoded = mpir::encode_server_arguments(request.arguments, room);
    if (encoded) return request;
    if (encoded.error().code != error_code::limit || order.endpoints.size() <= 1)
      return fail(error(encoded.error()).while_doing("agents as the starter's daemons"));
    order.endpoints.pop_back();
  }
}

result<std::unique_ptr<starter_daemons>> starter_daemons::ask(process_id starter, const mpir::daemon_request& request) {
  job_options how;
  how.debug_files.debuginfod = false;  // a download would keep the starter stopped
  how.interface = interface_kind::mpir;
  how.follow_ranks = false;
  how.daemons = request;
  auto attached = job::attach(starter, std::move(how));
  if (!attached) return fail(std::move(attached).error().while_doing("asking the starter to launch agents"));
  std::unique_ptr<starter_daemons> made(new starter_daemons(std::move(*attached)));
  const bool has_table = made->take_events();
  if (!made->starter_) return fail(error_code::process_gone, "the starter has ended");
  const auto asked = made->starter_->facts().daemons;
  if (!has_table || (asked != mpir::daemon_launch::by_fifo && asked != mpir::daemon_launch::by_polling)) {
    const std::string& words = made->last_message_;
    return fail(error_code::unsupported, words.empty() ? "the starter cannot launch agents" : words);
  }
  TRY(made->starter_->resume());
  return made;
}

bool starter_daemons::has_pending() {
  if (starter_ && take_events() && starter_) note(starter_->resume());
  return starter_ != nullptr;
}

bool starter_daemons::take_events() {
  bool is_stopped = false;
  for (;;) {
    auto event = starter_->next(clock::now());
    if (!event) {
      last_message_ = event.error().message;
      starter_.reset();
      return false;
    }
    if (!*event) return is_stopped;
    if (const auto* notice = std::get_if<job_notice>(&**event)) last_message_ = notice->what.message;
    if (std::holds_alternative<starter_ended>(**event)) {
      last_message_ = "the starter has ended";
      starter_.reset();
      return false;
    }
    is_stopped = is_stopped || std::holds_alternative<job_attached>(**event) ||
                 std::holds_alternative<job_spawned>(**event) || std::holds_alternative<job_aborting>(**event);
  }
}

void starter_daemons::detach() {
  if (!starter_) return;
  note(starter_->detach(leave::running));
  starter_.reset();
}

void starter_daemons::note(const result<void>& done) {
  if (!done) last_message_ = done.error().message;
}

}  // namespace mpiacq::agents

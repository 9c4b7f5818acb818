// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "start/starter_daemons.hpp"

#include <utility>
#include <variant>

#include <fmt/format.h>

namespace mpiacq::agents {

namespace {

constexpr auto shell = "/bin/sh";
/// $0 is the agent, $@ what it is told.
constexpr auto become_agent = "[ -x \"$0\" ] && exec \"$0\" \"$@\" >/dev/null 2>&1; exit 0";
/// MPIR_server_arguments (MPIR 1.1, 9.16). No starter is known that has less.
constexpr std::size_t room = 1024;

}  // namespace

result<mpir::daemon_request> daemons_for(const std::string& program, agent_order order) {
  for (;;) {
    mpir::daemon_request request{shell, {"-c", become_agent, program}};
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
  how.debug_files.debuginfod = false;  // a download would hold the starter
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
    const std::string& words = made->last_words_;
    return fail(error_code::unsupported, words.empty() ? "the starter cannot launch agents" : words);
  }
  if (auto going = made->starter_->resume(); !going) return fail(std::move(going).error());
  return made;
}

bool starter_daemons::may_bring() {
  if (starter_ && take_events() && starter_) note(starter_->resume());
  return starter_ != nullptr;
}

bool starter_daemons::take_events() {
  bool is_stopped = false;
  for (;;) {
    auto event = starter_->next(clock::now());
    if (!event) {
      last_words_ = event.error().message;
      starter_.reset();
      return false;
    }
    if (!*event) return is_stopped;
    if (const auto* notice = std::get_if<job_notice>(&**event)) last_words_ = notice->what.message;
    if (std::holds_alternative<starter_ended>(**event)) {
      last_words_ = "the starter has ended";
      starter_.reset();
      return false;
    }
    is_stopped = is_stopped || std::holds_alternative<job_attached>(**event) ||
                 std::holds_alternative<job_spawned>(**event) || std::holds_alternative<job_aborting>(**event);
  }
}

void starter_daemons::let_go() {
  if (!starter_) return;
  note(starter_->detach(leave::running));
  starter_.reset();
}

void starter_daemons::note(const result<void>& done) {
  if (!done) last_words_ = done.error().message;
}

}  // namespace mpiacq::agents

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "host/pmix_session.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "framing/wire.hpp"
#include "helper/library_file.hpp"
#include "text/printable.hpp"
#include "text/signal_name.hpp"

namespace mpiacq::pmix {

namespace {

constexpr std::string_view what_for = "the process that asks PMIx";
constexpr std::size_t most_printed = 512;
constexpr std::size_t most_events = 4096;
constexpr std::chrono::milliseconds patience_with_its_end{500};

std::optional<std::uint32_t> owner_of(const pmix_server& server) {
  const user_id user = server.process->user();
  if (user == no_user) return std::nullopt;
  return static_cast<std::uint32_t>(user.value());
}

}  // namespace

result<pmix_session> pmix_session::start(const pmix_server& server, const session_limits& limits,
                                         const time_limit& until, const std::string& program) {
  auto made = TRY(begin_start(server, limits, program));
  made.connect();
  TRY(made.finish_start(until));
  return made;
}

result<pmix_session> pmix_session::begin_start(const pmix_server& server, const session_limits& limits,
                                               const std::string& program) {
  const auto owner = owner_of(server);
  if (!owner || (*owner != ::geteuid() && ::geteuid() != 0)) {
    return fail(error_code::permission,
                fmt::format("the PMIx server {} belongs to another user: its user or root can ask it",
                            server.process->pid().value()));
  }
  const auto user = base::user_to_become(owner);
  const auto library =
      TRY(base::open_library(server.library, user ? user->user : ::geteuid(), false, {"the PMIx library", ""}));
  // The helper keeps none of PMIx's variables, which could be those of a job that this program itself is a rank of.
  auto helper = TRY(base::start_library_helper({"pmix-host", what_for, "the program that asks PMIx servers"}, program,
                                               std::array{library.file.get()}, user));
  pmix_session made(std::move(helper), limits);
  TRY(made.send_begin({MPIACQ_VERSION, server.library, server.uri, server.version}));
  return made;
}

void pmix_session::connect() {
  // A helper that has failed, and has ended, has said why: `finish_start` reports it.
  (void)sent(base::encode(request{connect_now{}}));
}

void pmix_session::connect_and_ask(bool follows) {
  connect();
  has_asked_ = sent(base::encode(request{ask_job{follows, follows}}));
}

result<void> pmix_session::finish_start(const time_limit& until) {
  auto first = TRY(next(until));
  auto* facts = std::get_if<connected>(&first);
  if (facts == nullptr) return fail(not_understood());
  version_ = std::move(facts->library_version);
  own_namespace_ = std::move(facts->own.nspace);
  return {};
}

pmix_session::~pmix_session() {
  if (!is_in_use()) return;
  begin_end();
  // A server may crash when a program that is connected is killed. The helper ends by itself.
  helper_.child.leave(patience_with_its_end);
}

/// A forked child of the tool has a copy of the session, which is not in use there.
bool pmix_session::is_in_use() const {
  return helper_.socket.is_open() && !is_over_ && helper_.child.is_made_here();
}

void pmix_session::begin_end() {
  // The server forgets this program without a complaint, if there is time for that.
  if (is_in_use() && !std::exchange(is_leaving_, true)) (void)send(disconnect{});
}

bool pmix_session::sent(std::span<const std::byte> bytes) {
  const auto frame = base::as_frame(bytes);
  std::span<const std::byte> rest = frame;
  // The helper takes each message before it gets the next one: a message fits into the socket.
  while (!rest.empty()) {
    const ssize_t count = ::send(helper_.socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
      rest = rest.subspan(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

result<void> pmix_session::send_bytes(std::span<const std::byte> bytes) {
  if (!sent(bytes)) return fail(ended());
  return {};
}

result<void> pmix_session::send_begin(const begin_message& what) {
  return send_bytes(base::encode(what));
}

result<void> pmix_session::send(const request& what) {
  return send_bytes(base::encode(what));
}

result<pmix_answer> pmix_session::ask(const time_limit& until) {
  return tables({}, until);
}

result<pmix_answer> pmix_session::ask_and_follow(const time_limit& until, bool with_ends) {
  return tables({true, with_ends}, until);
}

result<pmix_answer> pmix_session::tables(ask_job how, const time_limit& until) {
  if (!std::exchange(has_asked_, false)) TRY(send(how));
  answer_builder builder(limits_);
  for (;;) {
    helper_message what = TRY(next(until));
    if (std::holds_alternative<answered>(what)) return std::move(builder).finish();
    if (!builder.take(std::move(what))) return fail(not_understood());
  }
}

result<answered> pmix_session::await_answered(const time_limit& until) {
  helper_message what = TRY(next(until));
  if (auto* answer = std::get_if<answered>(&what)) return std::move(*answer);
  return fail(not_understood());
}

result<void> pmix_session::release(const std::string& nspace, const time_limit& until) {
  TRY(send(release_ranks{nspace}));
  (void)TRY(await_answered(until));
  return {};
}

result<std::string> pmix_session::launch(const std::string& nspace, std::vector<std::string> command,
                                         const time_limit& until) {
  TRY(send(launch_daemons{nspace, std::move(command)}));
  answered answer = TRY(await_answered(until));
  return std::move(answer.nspace);
}

result<std::optional<event_told>> pmix_session::event() {
  while (events_.empty() && !is_over_) {
    auto what = TRY(decoded());
    if (what) {
      // Nothing was asked: only events come.
      if (!std::holds_alternative<event_told>(*what)) return fail(not_understood());
      keep(std::get<event_told>(std::move(*what)));
      continue;
    }
    pollfd ready{helper_.socket.get(), POLLIN, 0};
    if (::poll(&ready, 1, 0) <= 0) return std::nullopt;
    if (!receive()) return fail(ended());
  }
  if (events_.empty()) return std::nullopt;
  event_told first = std::move(events_.front());
  events_.pop_front();
  return first;
}

void pmix_session::keep(event_told&& event) {
  if (events_.size() == most_events) events_.pop_front();
  events_.push_back(std::move(event));
}

result<helper_message> pmix_session::next(const time_limit& until) {
  if (is_over_) return fail(error_code::process_gone, fmt::format("{} has ended", what_for));
  const deadline by = std::min(until.by, clock::now() + limits_.answer_time);
  for (;;) {
    while (auto what = TRY(decoded())) {
      if (auto* event = std::get_if<event_told>(&*what)) {
        keep(std::move(*event));
        continue;
      }
      if (auto* last = std::get_if<failed>(&*what)) {
        is_over_ = true;
        return fail(with_output(std::move(last->why)));
      }
      if (auto* no = std::get_if<refused>(&*what)) return fail(with_output(std::move(no->why)));
      return std::move(*what);
    }
    TRY(wait(by, until.stop));
    if (!receive()) return fail(ended());
  }
}

result<std::optional<helper_message>> pmix_session::decoded() {
  const auto frame = frames_.next();
  if (frames_.broken()) return fail(not_understood());
  if (!frame) return std::nullopt;
  auto what = base::decode<helper_message>(*frame);
  if (!what) return fail(not_understood());
  return what;
}

result<void> pmix_session::wait(deadline by, int stop) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(by - clock::now());
    if (left.count() <= 0) {
      is_over_ = true;
      return fail(with_output({error_code::timed_out, "the PMIx server of the job did not answer in time"}));
    }
    std::array<pollfd, 3> any{pollfd{helper_.socket.get(), POLLIN, 0}, pollfd{helper_.output.get(), POLLIN, 0},
                              pollfd{stop, POLLIN, 0}};
    const int ready = ::poll(any.data(), any.size(), static_cast<int>(std::min<std::int64_t>(left.count(), 60'000)));
    if (ready < 0 && errno != EINTR) {
      return fail(error{error_code::system, fmt::format("waiting for {}", what_for)}.with_errno(errno));
    }
    if (ready <= 0) continue;
    if (any[2].revents != 0) {
      is_over_ = true;
      return fail(error_code::timed_out, "cancelled before the PMIx server of the job had answered");
    }
    if (any[1].revents != 0) take_output();
    if (any[0].revents != 0) return {};
  }
}

bool pmix_session::receive() {
  const auto room = frames_.room(1U << 16U);
  const ssize_t got = ::recv(helper_.socket.get(), room.data(), room.size(), MSG_DONTWAIT);
  if (got > 0) frames_.came(static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

/// A PMIx library also prints what the job prints about itself: the beginning is kept for sentences.
void pmix_session::take_output() {
  std::array<char, 16384> piece{};
  // Bounds the reads per turn, so that a flood of output cannot keep the loop from its clock.
  for (int i = 0; i < 16; ++i) {
    const ssize_t got = ::read(helper_.output.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;
    if (got == 0) return helper_.output.reset();
    printed_.append(piece.data(), std::min(static_cast<std::size_t>(got), most_printed - printed_.size()));
  }
}

error pmix_session::not_understood() {
  is_over_ = true;
  return with_output({error_code::bad_format, fmt::format("{} sent a message that has no meaning there", what_for)});
}

error pmix_session::ended() {
  is_over_ = true;
  const auto status = helper_.child.end(patience_with_its_end);
  take_output();
  std::string how = "has ended";
  if (status && WIFSIGNALED(*status)) how = fmt::format("has crashed ({})", base::signal_name(WTERMSIG(*status)));
  if (status && WIFEXITED(*status)) how = fmt::format("has ended with status {}", WEXITSTATUS(*status));
  return with_output({error_code::system, fmt::format("{} {}", what_for, how)});
}

error pmix_session::with_output(error why) const {
  if (!printed_.empty()) why.message += fmt::format("; PMIx printed: {}", base::printable(printed_));
  return why;
}

}  // namespace mpiacq::pmix

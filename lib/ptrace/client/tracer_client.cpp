// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "client/tracer_client.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "errors/try.hpp"
#include "helper/programs.hpp"
#include "proc/left_processes.hpp"

namespace mpiacq::tracing {

namespace {

constexpr int milliseconds_to_end = 1000;

/// Moves the descriptor above the numbers that the sockets will have in the new process.
bool move_up(unique_fd& fd) {
  fd = unique_fd{::fcntl(fd.get(), F_DUPFD_CLOEXEC, static_cast<int>(first_free_descriptor))};
  return static_cast<bool>(fd);
}

result<pid_t> spawn(const std::vector<std::string>& candidates, int commands, int events) {
  base::spawn_plan plan;
  // A signal from the terminal must not end the tracer server.
  plan.block_signals();
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) plan.open(fd, "/dev/null", O_RDWR);
  plan.give(commands_descriptor, commands);
  plan.give(events_descriptor, events);
  pid_t id = 0;
  // `ps` shows the tool to which the tracer server belongs. A `pkill` by the tool's name does not end it.
  if (const int outcome = plan.run(id, candidates, {"tracer", "of", std::to_string(::getpid())}, environ);
      outcome != 0) {
    return fail(base::not_startable("the program that traces for this one", candidates, outcome));
  }
  return id;
}

/// Tracer servers that outlive their `tracer` object because of a thread that does not stop. They are waited for when
/// the next tracer starts or ends.
base::left_processes& left() {
  static base::left_processes all;
  return all;
}

/// The command sockets of all tracer servers of this program. Signal handlers and any thread may read the list, so that
/// it has no lock. Servers beyond its length rely on tracer_options::hold_limit.
constexpr std::size_t most_listed = 64;
std::array<std::atomic<std::int64_t>, most_listed> listed_sockets;  // NOLINT: constant initialisation

/// The entry includes the pid of the process that made the socket, because a forked child has a copy of the list.
std::int64_t entry_of(int socket) {
  constexpr int bits_of_a_socket = 32;
  return (static_cast<std::int64_t>(::getpid()) << bits_of_a_socket) | socket;
}

void replace_entry(std::int64_t from, std::int64_t to) {
  for (std::atomic<std::int64_t>& entry : listed_sockets) {
    std::int64_t expected = from;
    if (entry.compare_exchange_strong(expected, to)) return;
  }
}

}  // namespace

void end_all_commands() noexcept {
  for (const std::atomic<std::int64_t>& entry : listed_sockets) {
    const std::int64_t found = entry.load();
    const int socket = static_cast<int>(found & 0x7fffffff);
    // A tracer server treats the end of its command stream as the end of the tool.
    if (found != 0 && found == entry_of(socket)) ::shutdown(socket, SHUT_WR);
  }
}

void tracer_client::enlist() const {
  replace_entry(0, entry_of(commands_.get()));
}

void tracer_client::strike_off() const {
  replace_entry(entry_of(commands_.get()), 0);
}

result<std::unique_ptr<tracer_client>> tracer_client::make(const tracer_options& options) {
  auto commands = TRY(make_socket_pair(SOCK_STREAM));
  auto events = TRY(make_socket_pair(SOCK_SEQPACKET));
  if (!move_up(commands.theirs) || !move_up(events.theirs)) {
    return fail(error{error_code::system, "no descriptor for the tracing process"}.with_errno(errno));
  }
  std::unique_ptr<tracer_client> made(new tracer_client(std::move(commands), std::move(events), options));
  if (!options.start_when_needed) {
    const std::lock_guard lock(made->mutex_);
    TRY(made->start_if_needed());
  }
  return made;
}

result<void> tracer_client::start_if_needed() {
  return is_started() ? result<void>{} : start();
}

result<void> tracer_client::start() {
  left().reap();
  const auto candidates = base::program_candidates("tracer", options_.tracing_program);
  id_ = TRY(spawn(candidates, for_server_.commands.get(), for_server_.events.get()));
  for_server_.commands.reset();
  for_server_.events.reset();
  const begin_command begin{std::string{build_version}, options_.stop_limit, options_.hold_limit};
  const auto bytes = exchange_with_server(encode(request_message{events_taken_, begin}), {});
  auto begun = bytes ? decode<result<void>>(*bytes) : std::nullopt;
  if (begun && *begun) return {};
  if (begun && begun->error().code != error_code::system) return fail(std::move(*begun).error());
  return fail(error{error_code::system,
                    fmt::format("the program that traces for this one ({}) was started and {} before it answered: it, "
                                "or a shared library that it needs, is damaged or missing; run it by hand to see which",
                                fmt::join(candidates, ", "), how_it_ended())}
                  .on(candidates.back()));
}

tracer_client::~tracer_client() {
  if (is_a_copy()) return;
  strike_off();
  if (!is_started()) return;
  // Closing does not suffice: a forked child of the tool may have a copy of the socket.
  ::shutdown(commands_.get(), SHUT_WR);
  const auto goodbye = receive_frame(commands_.get());
  const auto stays = goodbye ? decode<bool>(goodbye->bytes) : std::nullopt;
  left().reap();
  if (id_ == 0) return;
  // If the tracer server was killed, its guard stays with launched programs until the tool closes its sockets.
  events_.reset();
  if (!goodbye || stays.value_or(false)) {
    left().add(id_);
    return;
  }
  while (::waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

result<std::vector<std::byte>> tracer_client::exchange(std::span<const std::byte> request,
                                                       std::span<const int> descriptors) {
  if (is_a_copy()) return fail(not_the_maker());
  const std::lock_guard lock(mutex_);
  TRY(start_if_needed());
  return exchange_with_server(request, descriptors);
}

result<std::vector<std::byte>> tracer_client::exchange_with_server(std::span<const std::byte> request,
                                                                   std::span<const int> descriptors) {
  if (!send_frame(commands_.get(), request, descriptors)) {
    if (errno == EPIPE || errno == ECONNRESET) return fail(gone());
    return fail(error{error_code::system, "the tracing process cannot be given a command"}.with_errno(errno));
  }
  auto answer = receive_frame(commands_.get());
  if (!answer) return fail(gone());
  last_command_ = clock::now();
  return std::move(answer->bytes);
}

deadline tracer_client::next_sign_of_life() const {
  constexpr int signs_in_the_limit = 4;
  constexpr std::chrono::hours no_limit{24 * 365};
  if (!is_started() || !options_.hold_limit || *options_.hold_limit > no_limit) return no_deadline;
  return last_command_ + *options_.hold_limit / signs_in_the_limit;
}

result<void> tracer_client::keep_held() {
  return clock::now() < next_sign_of_life() ? result<void>{} : ask(keep_held_command{});
}

result<std::optional<process_event>> tracer_client::event_at_once() {
  if (is_a_copy()) return fail(not_the_maker());
  std::vector<std::byte> bytes;
  switch (receive_packet(events_.get(), bytes)) {
    case packet_outcome::not_now:
      return std::nullopt;
    case packet_outcome::gone:
      return fail(gone());
    case packet_outcome::done:
      break;
  }
  ++events_taken_;
  auto event = decode<process_event>(bytes);
  if (!event) return fail(gone());
  return event;
}

result<std::optional<process_event>> tracer_client::next_event(deadline until) {
  auto event = event_at_once();
  if (!event || *event) return event;
  if (until == no_deadline) {
    const bool idle = TRY(ask(is_idle_command{}));
    event = event_at_once();
    if (!event || *event) return event;
    if (idle) return fail(error_code::invalid_argument, "nothing is traced, so nothing can be waited for");
  }
  while (true) {
    // A tool that waits here is alive.
    TRY(keep_held());
    const deadline wake = std::min(until, next_sign_of_life());
    const auto left = std::max<clock::duration>(wake - clock::now(), clock::duration::zero());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec limit{seconds.count(), std::chrono::nanoseconds(left - seconds).count()};
    pollfd waiting{events_.get(), POLLIN, 0};
    const int ready = ::ppoll(&waiting, 1, wake == no_deadline ? nullptr : &limit, nullptr);
    if (ready > 0) {
      event = event_at_once();
      if (!event || *event) return event;
    }
    if (ready == 0 && clock::now() >= until) return std::nullopt;
  }
}

error tracer_client::not_the_maker() const {
  return {error_code::invalid_argument,
          fmt::format("process {} has forked from process {}, which made this tracer: only that one can use it",
                      ::getpid(), made_in_)};
}

std::string tracer_client::how_it_ended() {
  if (!ended_how_.empty()) return ended_how_;
  // The sockets of the tracer server close a moment before its end can be waited for.
  pollfd ending{static_cast<int>(::syscall(SYS_pidfd_open, id_, 0)), POLLIN, 0};
  const unique_fd closes{ending.fd};
  // The guard can live as long as a launched program, so that this wait is made only once.
  if (!std::exchange(waited_for_end_, true)) static_cast<void>(::poll(&ending, 1, milliseconds_to_end));
  int status = 0;
  if (id_ == 0 || ::waitpid(id_, &status, WNOHANG) != id_) return "has ended";
  id_ = 0;
  // The guard exits with the status of the tracer server.
  constexpr int by_signal = 128;
  const int code = WIFSIGNALED(status) ? by_signal + WTERMSIG(status) : WEXITSTATUS(status);
  ended_how_ = code > by_signal ? fmt::format("was ended by signal {}", code - by_signal)
                                : fmt::format("ended with status {}", code);
  return ended_how_;
}

error tracer_client::gone() {
  return {error_code::system,
          fmt::format("the process that traces for this one {}: nothing is held any more", how_it_ended())};
}

}  // namespace mpiacq::tracing

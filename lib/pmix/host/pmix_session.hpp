// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A conversation with a PMIx server, through a helper process that loads the server's own PMIx library.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "framing/frames.hpp"
#include "helper/library_helper.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/time_limit.hpp"
#include "separate/pmix_messages.hpp"
#include "server/pmix_server.hpp"

namespace mpiacq::pmix {

/// Bounds of a conversation.
struct session_limits {
  std::chrono::milliseconds answer_time{10'000};  ///< for each answer; a call ends no later than this
  std::size_t most_ranks = std::size_t{1} << 26U;
  std::size_t most_problems = 32;
};

/// A namespace of the server: a job, or what a job has spawned.
struct pmix_world {
  std::string nspace;
  std::optional<process_name> spawned_by;
  std::vector<process_row> ranks;  ///< in the order of ranks, each number once
};
/// What the server says that it runs.
struct pmix_answer {
  std::vector<pmix_world> worlds;
  std::vector<error> problems;
};

/// Puts together what the helper tells: bounds and order are checked here.
class answer_builder {
 public:
  explicit answer_builder(const session_limits& limits) : limits_(limits) {}
  /// False: the helper may not say this here, or says more than the limits allow.
  [[nodiscard]] bool take(helper_message&& what);
  [[nodiscard]] pmix_answer finish() &&;

 private:
  void problem(error_code code, std::string sentence);
  void end_world();

  const session_limits& limits_;
  pmix_answer answer_;
  bool is_in_world_ = false;
  std::uint64_t claimed_ = 0;
  std::size_t ranks_ = 0;
};

/// The tool's side. It owns the helper process, and takes what that says for foreign bytes.
class pmix_session {
 public:
  /// Checks the library (the trust rule of queue libraries), starts the helper and connects. The helper becomes the
  /// server's user if this program is root. `program`: for tests, the helper's path; empty: the installed one. Errors:
  /// permission (the library is not trusted, or the server refuses), unsupported (another version), bad_format,
  /// timed_out (the server is silent, or the caller has cancelled), system.
  [[nodiscard]] static result<pmix_session> start(const pmix_server& server, const session_limits& limits,
                                                  const time_limit& until, const std::string& program = {});
  /// The parts of `start`, each of which comes after the one before it. The helper works while the caller does
  /// something else. Errors of the first and the last: as `start`.
  ///
  /// The helper starts and loads the library. The server knows nothing of it, and the session may be dropped.
  [[nodiscard]] static result<pmix_session> begin_start(const pmix_server& server, const session_limits& limits,
                                                        const std::string& program = {});
  /// The helper connects to the server.
  void connect();
  /// The same, and the helper asks as soon as it is connected. After `finish_start` comes `ask_and_follow` if
  /// `follows`, otherwise `ask`.
  void connect_and_ask(bool follows);
  [[nodiscard]] result<void> finish_start(const time_limit& until);
  pmix_session(pmix_session&&) = default;
  pmix_session& operator=(pmix_session&&) = delete;
  /// Ends the conversation, and waits for the helper.
  ~pmix_session();
  /// The first half of the end: the helper disconnects while the caller does something else. Nothing else is called
  /// afterwards.
  void begin_end();

  /// The namespaces and tables. Errors: as `start`.
  [[nodiscard]] result<pmix_answer> ask(const time_limit& until);
  /// As `ask`, and from then on events come: none is missing between the answer and the first event. `with_ends`: the
  /// ends of namespaces, too, and not only that of the connection.
  [[nodiscard]] result<pmix_answer> ask_and_follow(const time_limit& until, bool with_ends = true);
  /// Ranks of the namespace that wait in PMIx_Init go on.
  [[nodiscard]] result<void> release(const std::string& nspace, const time_limit& until);
  /// The server starts `command` (a path and arguments) once on each node that has a rank of the namespace. It takes
  /// their output for the job's, and a status other than 0 for a failure of the job. Errors: as `start`.
  /// Returns the namespace of what was started: an event reports its end.
  [[nodiscard]] result<std::string> launch(const std::string& nspace, std::vector<std::string> command,
                                           const time_limit& until);
  /// An event that has come; empty: none. Does not block. Error: the helper has ended, or says what it may not.
  [[nodiscard]] result<std::optional<event_told>> event();
  /// Readable when there may be an event.
  [[nodiscard]] int descriptor() const { return helper_.socket.get(); }
  /// Whether the helper answers no more. A request that failed may be made again otherwise.
  [[nodiscard]] bool is_over() const { return is_over_; }
  [[nodiscard]] const std::string& library_version() const { return version_; }
  [[nodiscard]] const std::string& own_namespace() const { return own_namespace_; }

 private:
  pmix_session(base::library_helper helper, session_limits limits) : helper_(std::move(helper)), limits_(limits) {}
  [[nodiscard]] bool is_in_use() const;
  [[nodiscard]] result<void> send_begin(const begin_message& what);
  [[nodiscard]] result<void> send(const request& what);
  /// False: the helper takes nothing more. What it has said before is kept.
  [[nodiscard]] bool sent(std::span<const std::byte> bytes);
  [[nodiscard]] result<void> send_bytes(std::span<const std::byte> bytes);
  /// The next message that is no event.
  [[nodiscard]] result<helper_message> next(const time_limit& until);
  [[nodiscard]] result<std::optional<helper_message>> decoded();
  [[nodiscard]] result<void> wait(deadline by, int stop);
  [[nodiscard]] bool receive();
  void take_output();
  void keep(event_told&& event);
  [[nodiscard]] error not_understood();
  [[nodiscard]] error ended();
  [[nodiscard]] error with_output(error why) const;
  [[nodiscard]] result<pmix_answer> tables(ask_job how, const time_limit& until);
  [[nodiscard]] result<answered> await_answered(const time_limit& until);

  base::library_helper helper_;
  session_limits limits_;
  base::frame_splitter frames_{longest_message};
  std::deque<event_told> events_;
  std::string version_;
  std::string own_namespace_;
  std::string printed_;
  bool is_over_ = false;
  bool has_asked_ = false;   ///< `connect_and_ask` has sent the question: `tables` waits for its answer alone
  bool is_leaving_ = false;  ///< the helper has been asked to disconnect
};

}  // namespace mpiacq::pmix

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "descriptors/unique_fd.hpp"
#include "host/pmix_session.hpp"
#include "mpiacq/job/job_description.hpp"
#include "mpiacq/mpir/mpir_daemons.hpp"
#include "views/pmix_description.hpp"

namespace mpiacq {

/// A PMIx job that is followed. Its starter is not traced: its server says what happens, and a pidfd that it has ended.
class pmix_watch {
 public:
  /// What has changed since the last look.
  struct news {
    std::shared_ptr<const process_table> table;  ///< a newer table; null: nothing came or went
    std::vector<error> notices;
    bool has_ended = false;  ///< the starter has ended
  };

  /// Connects to the server of a launched job, and takes the first table. Events do not report the ends of worlds
  /// before `hear_ends_if_needed`. Errors: as `describe_pmix_job`.
  [[nodiscard]] static result<std::unique_ptr<pmix_watch>> start(pmix_place place,
                                                                 const pmix::session_limits& limits = {});
  /// A watch by a session that connects while the caller does something else. `finish_start` comes next. Errors of
  /// both: as `start`.
  [[nodiscard]] static result<std::unique_ptr<pmix_watch>> begin_start(pmix_place place, pmix::pmix_session session);
  [[nodiscard]] result<void> finish_start();

  /// The job as it was when the watch began.
  [[nodiscard]] const job_description& first() const { return first_; }
  /// Takes the first table again: some of its ranks had not been started. Errors: as `start`.
  [[nodiscard]] result<void> renew_first();
  /// From now on events report the ends of worlds, if the job has ranks on other nodes, or if its server does not end
  /// while a tool is connected (`pmix::known_harm_of`). Other jobs do without these events: a server that ends while it
  /// sends one (PMIx 5.0.7) can print a warning of libevent into the output of its job. If they are needed, the server
  /// is asked for the first table again. Errors: as `start`.
  [[nodiscard]] result<void> hear_ends_if_needed();
  /// Looks at events, and asks for the tables if `asks`; not within five seconds after a world, or a rank of this node,
  /// has ended, and not while a tracer holds such a rank. Waits for an answer no longer than the session's limit.
  [[nodiscard]] news look(bool asks);
  /// The server starts the program once on each node of the job (`pmix::daemon_that_runs`). Errors: as
  /// `pmix_session::launch`; process_gone (the session has ended).
  [[nodiscard]] result<void> launch_daemons(const mpir::daemon_request& what);
  /// Readable when there may be news, or when `other` (a descriptor given to `joined_with`) is.
  [[nodiscard]] int descriptor() const { return any_.get(); }
  void joined_with(int other);
  /// The helper disconnects while the caller does something else. The watch is destroyed next.
  void begin_end();
  /// From now on the watch reports the end of ranks only if a rank has caused it: the exit status of the starter shows
  /// the other ends to the caller. The connection ends with the last world of the job.
  void tell_only_failures() { tells_usual_ends_ = false; }

 private:
  pmix_watch(pmix_place place, pmix::pmix_session session);
  [[nodiscard]] result<void> take_first(pmix::pmix_answer all);
  void add(int descriptor);
  void take_events(news& into);
  void ask(news& into);
  void keep_pids(pmix::pmix_answer& job);
  void keep_worlds(const pmix::pmix_answer& job);
  void keep_table(const job_description& job);
  /// False while the server may be about to end.
  [[nodiscard]] bool may_ask();
  void leave_if_over();
  void note_ended_ranks(const pmix::pmix_answer& job, news& into);
  void lose(error why, news& into);

  pmix_place place_;
  std::optional<pmix::pmix_session> session_;
  base::unique_fd starter_;       ///< a pidfd
  base::unique_fd any_;           ///< an epoll descriptor of all others
  int refusals_ = 0;              ///< so many questions in a row were refused
  bool is_disconnected_ = false;  ///< the helper said so
  bool hears_ends_ = true;        ///< the events report the ends of worlds
  bool tells_usual_ends_ = true;
  deadline quiet_until_;                ///< no question before
  std::set<std::string> worlds_;        ///< namespaces of the job in the last answer
  std::set<std::string> ended_worlds_;  ///< namespaces whose end the events have reported
  std::set<std::string> daemons_;       ///< namespaces of the daemons that `launch_daemons` has started
  job_description first_;
  std::string nspace_;  ///< of the job itself, and not of what it has spawned
  std::shared_ptr<const process_table> table_;
  std::vector<process_id> running_;  ///< ranks of this node in `table_` that have not been seen to have ended
  std::map<std::pair<std::string, std::uint32_t>, std::int64_t> pids_;  ///< of each rank, as it was when it ran
  std::set<std::pair<std::string, std::uint32_t>> ended_;               ///< ranks whose end has been reported
};

}  // namespace mpiacq

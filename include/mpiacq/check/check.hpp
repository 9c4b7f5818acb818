// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/check/check_observations.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/mpir/mpir_daemons.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/tracer.hpp"

/// How a starter keeps to the MPIR Process Acquisition Interface, version 1.1.
///
/// Two halves that know nothing of each other but the data between them: a `run` watches one job and writes down what
/// it sees (`observations`), and the clauses judge what was written down. A clause is one sentence of the document that
/// binds an implementation. Whoever watches a starter by other means can fill in the observations and have them judged.
namespace mpiacq::check {

enum class verdict : std::uint8_t { pass, fail, not_applicable };
[[nodiscard]] std::string_view name(verdict v);  ///< "pass", "fail", "not-applicable"

/// How strongly the document puts it.
enum class binding : std::uint8_t { must, should };
[[nodiscard]] std::string_view name(binding b);  ///< "must", "should"

/// In which of the document's modes (6.1) a clause can be judged.
enum class applies : std::uint8_t { both, launch, attach };

/// What one clause comes to, and what was seen that makes it so.
struct finding {
  verdict what = verdict::not_applicable;
  std::string saw;  ///< a sentence for people, no full stop; foreign text in it is as the starter wrote it
};

/// One sentence of the document that a starter can keep or break.
struct clause {
  std::string_view id;       ///< the section's number, with a letter where it has several: "9.6b"; never used twice
  std::string_view section;  ///< "9.6"
  std::string_view title;    ///< what is asked for, in a few words
  std::string_view says;     ///< the document's own words
  binding strength = binding::must;
  applies where = applies::both;
  finding (*judge)(const observations&) = nullptr;  ///< pure
};
/// All of them, in the document's order.
[[nodiscard]] std::span<const clause> clauses();

struct judgement {
  const clause* rule = nullptr;  ///< into `clauses()`
  finding result;
};
/// Every clause in its order. One that does not apply in this mode is not_applicable and says so.
///
/// One fault of a starter fails one clause: what cannot be judged because another clause has failed is not_applicable
/// and names that one.
[[nodiscard]] std::vector<judgement> judge(const observations& seen);

struct run_options {
  debug_file_search debug_files;
  breakpoint_kind breakpoints = breakpoint_kind::automatic;
  std::optional<std::vector<std::string>> environment;  ///< of the starter; empty: this process's own
  /// A daemon to ask the starter for (MPIR 1.1, 7.1). It should run until the spawn event, to be seen.
  std::optional<mpir::daemon_request> daemon;
  /// How long a running starter is watched; up to ten times as long until a daemon asked for has been seen.
  std::chrono::milliseconds attached_for{1000};
  /// How long processes may take to come to rest at the spawn event. The starter is held for no longer.
  std::chrono::milliseconds settle{1000};
  /// How long processes may take to go on once the starter does, before their gates are opened: a starter without
  /// MPIR_partial_attach_ok, one with it.
  std::chrono::milliseconds patience_without_flag{2000};
  std::chrono::milliseconds patience_with_flag{10000};
  /// How long a process may take to go on once its gate has been opened.
  std::chrono::milliseconds patience_with_gate{5000};
  /// So many processes of this node are looked at one by one.
  std::size_t max_ranks = 1024;
};

/// One job, watched from its starter's first instruction to its end; or one that runs already, watched for a moment.
///
/// The job is not disturbed: the starter is held while its table is read, processes are never stopped, and the only
/// writes are those that the document asks of a tool: MPIR_being_debugged, and MPIR_debug_gate where processes wait for
/// it.
///
/// Thread: one at a time.
class run {
 public:
  /// Errors as `tracer::launch`.
  [[nodiscard]] static result<std::unique_ptr<run>> launch(std::vector<std::string> command, run_options options = {});
  /// Takes hold of a running starter, looks, lets it run, and lets go of it after `run_options::attached_for`. Errors
  /// as `tracer::attach`.
  [[nodiscard]] static result<std::unique_ptr<run>> attach(process_id starter, run_options options = {});
  /// Lets go of the starter, which goes on.
  ~run();
  run(const run&) = delete;
  run& operator=(const run&) = delete;

  /// Watches on, until something happens that the caller should know (job_notice, starter_stopped, starter_continued,
  /// starter_ended; the starter is never left held), or until the time is over: empty then.
  [[nodiscard]] result<std::optional<job_event>> next(deadline until = no_deadline);
  /// A descriptor to poll for reading: readable while `next` may have something. Poll no longer than until `wake_at`.
  [[nodiscard]] int event_descriptor() const;
  /// When `next` is to be called even if nothing has come.
  [[nodiscard]] deadline wake_at() const;

  /// Nothing more will be seen: the starter has ended, or has been let go of.
  [[nodiscard]] bool over() const;

  /// Sends the starter a signal, as kill(2) would; nothing where it has ended.
  void signal(int number);
  /// Stops watching: MPIR_being_debugged = 0, and the starter runs without us. Gates that are still shut are opened
  /// first. Its end is still reported.
  [[nodiscard]] result<void> let_go();

  /// What has been seen so far.
  [[nodiscard]] const observations& seen() const;

 private:
  struct state;
  explicit run(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq::check

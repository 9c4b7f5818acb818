// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// How a starter keeps to the MPIR Process Acquisition Interface, version 1.1.
///
/// There are two halves, connected only by data: a `run` watches one job and writes down what it sees (`observations`),
/// and the clauses judge the observations. A clause is one sentence of the document that binds an implementation. A
/// program that watches a starter by other means can fill in the observations and have them judged.
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

namespace mpiacq::check {

/// The judgement of a clause.
enum class verdict : std::uint8_t { pass, fail, not_applicable };
/// "pass", "fail", "not-applicable"
[[nodiscard]] std::string_view name(verdict v);

/// How strongly a clause binds.
enum class binding : std::uint8_t { must, should };
/// "must", "should"
[[nodiscard]] std::string_view name(binding b);

/// The modes (6.1) in which a clause can be judged.
enum class applies : std::uint8_t { both, launch, attach };

/// The verdict on one clause, and what was seen.
struct finding {
  verdict what = verdict::not_applicable;
  std::string saw;  ///< a sentence for people without a full stop; text of the starter in it is unchanged
};

/// One sentence of the document that a starter can keep or violate.
struct clause {
  std::string_view id;  ///< the number of the section, with a letter if it has several: "9.6b"; an id is never reused
  std::string_view section;  ///< "9.6"
  std::string_view title;    ///< the requirement in a few words
  std::string_view says;     ///< the document's own words
  binding strength = binding::must;
  applies where = applies::both;
  finding (*judge)(const observations&) = nullptr;  ///< judges; a pure function
};
/// All clauses, in the order of the document.
[[nodiscard]] std::span<const clause> clauses();

/// The finding on one clause.
struct judgement {
  const clause* rule = nullptr;  ///< one of `clauses()`
  finding result;
};
/// Judges every clause, in the order of `clauses`. A clause that does not apply in this mode is not_applicable.
///
/// One fault of a starter fails one clause: a clause that cannot be judged because another one has failed is
/// not_applicable and names that one.
[[nodiscard]] std::vector<judgement> judge(const observations& seen);

/// How a job is watched.
struct run_options {
  debug_file_search debug_files;
  breakpoint_kind breakpoints = breakpoint_kind::automatic;
  std::optional<std::vector<std::string>> environment;  ///< of the starter; empty: that of this process
  /// A daemon that the starter is asked to launch (MPIR 1.1, 7.1). It should run until the spawn event, so that it is
  /// seen.
  std::optional<mpir::daemon_request> daemon;
  /// How long a running starter is watched. With a daemon request, up to ten times as long until the daemon has been
  /// seen.
  std::chrono::milliseconds attached_for{1000};
  /// How long processes may take to come to rest at the spawn event. The starter is not held for longer.
  std::chrono::milliseconds settle{1000};
  /// How long processes may take to go on after the starter goes on, before their gates are opened: with a starter
  /// without MPIR_partial_attach_ok, and with one that has it.
  std::chrono::milliseconds patience_without_flag{2000};
  std::chrono::milliseconds patience_with_flag{10000};
  /// How long a process may take to go on after its gate was opened.
  std::chrono::milliseconds patience_with_gate{5000};
  /// The largest number of processes of this node that are looked at.
  std::size_t max_ranks = 1024;
};

/// Watches one job from the first instruction of its starter to its end, or a running job for a moment.
///
/// The job is not disturbed: the starter is held while its table is read, processes are never stopped, and only the
/// variables are written that the document asks a tool to write: MPIR_being_debugged, and MPIR_debug_gate if processes
/// wait for it.
///
/// Thread: one at a time.
class run {
 public:
  /// Launches a starter and watches it. Errors as `tracer::launch`.
  [[nodiscard]] static result<std::unique_ptr<run>> launch(std::vector<std::string> command, run_options options = {});
  /// Attaches to a running starter, watches it, and detaches after `run_options::attached_for`. Errors as
  /// `tracer::attach`.
  [[nodiscard]] static result<std::unique_ptr<run>> attach(process_id starter, run_options options = {});
  /// Detaches from the starter, which runs on.
  ~run();
  run(const run&) = delete;
  run& operator=(const run&) = delete;

  /// Watches until something happens that the caller should know (job_notice, starter_stopped, starter_continued,
  /// starter_ended; the starter is never left held). Empty if `until` passed first.
  [[nodiscard]] result<std::optional<job_event>> next(deadline until = no_deadline);
  /// A descriptor to poll for reading: it is readable while `next` may have an event. Do not poll beyond `wake_at`.
  [[nodiscard]] int event_descriptor() const;
  /// When to call `next` even if the descriptor is not readable.
  [[nodiscard]] deadline wake_at() const;

  /// Whether nothing more will be seen: the starter has ended or was released.
  [[nodiscard]] bool over() const;

  /// Sends a signal to the starter, as kill(2). Does nothing if it has ended.
  void signal(int number);
  /// Stops watching: opens gates that are still closed, sets MPIR_being_debugged to 0, and detaches from the starter.
  /// The end of the starter is still reported.
  [[nodiscard]] result<void> let_go();

  /// What was seen so far.
  [[nodiscard]] const observations& seen() const;

 private:
  struct state;
  explicit run(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq::check

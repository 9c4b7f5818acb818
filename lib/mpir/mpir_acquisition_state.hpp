// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon_variables.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"

namespace mpiacq::mpir {

using actions = std::vector<action>;

/// What stands in the way for good, as against a variable or a table that does not fit.
[[nodiscard]] inline bool ends_everything(const error& e) {
  return e.code == error_code::process_gone || e.code == error_code::permission;
}

/// One starter's acquisition. Members that give `result<void>` add to the list that they are handed; their error is
/// that the target cannot be looked at any more.
struct acquisition::state {
  explicit state(acquisition_options o) : options(std::move(o)) {}

  acquisition_options options;
  bool attached = false;  ///< attach mode, as against launch mode
  bool let_go = false;    ///< before_detach was called
  std::optional<symbol_set> symbols;
  std::optional<structure_layout> layout;
  std::shared_ptr<const process_table> table;
  job_facts facts;
  std::optional<target_address> planted;
  std::optional<watch_variable> watched;
  std::optional<symbol> debugged;  ///< MPIR_being_debugged as it was when 1 was handed out for it
  daemon_variables daemons;
  int looks_without_event = 0;  ///< at a table that is reported with the spawn event
  /// The reason of an abort that was told before MPIR_Breakpoint was reached.
  std::optional<std::optional<std::string>> told_abort;

  // taking_hold.cpp: symbols, and what is written and planted by them.
  [[nodiscard]] result<void> find(const target& starter);
  void note_flags();
  [[nodiscard]] result<actions> look_at_launched(const target& starter);
  [[nodiscard]] result<actions> look_at_attached(const target& starter);
  [[nodiscard]] result<void> take_hold(const target& starter, actions& todo);
  [[nodiscard]] result<void> ask_for_daemons(const target& starter, actions& todo);
  [[nodiscard]] result<void> empty_leftover(const target& starter, actions& todo);
  [[nodiscard]] result<void> wake_starter(const target& starter, actions& todo);
  void announce(const target& starter, actions& todo);
  [[nodiscard]] bool looks_like_rank() const;

  // events.cpp: what the starter says by MPIR_debug_state.
  [[nodiscard]] result<actions> at_breakpoint(const target& starter);
  [[nodiscard]] result<void> report_event(const target& starter, actions& todo);
  [[nodiscard]] bool event_brings_daemons();
  [[nodiscard]] result<actions> at_state_written(const target& starter);
  /// Reports what is there. What has still to come is the value.
  [[nodiscard]] result<std::optional<await_table>> look_at_table(const target& starter, std::int64_t now, taking how,
                                                                 actions& todo);
  [[nodiscard]] result<std::int64_t> debug_state(const target& starter) const;
  [[nodiscard]] result<void> tell_abort(const target& starter, bool at_breakpoint, actions& todo);

  // table_reports.cpp: the table, its layout, the job's ids.
  struct extent {
    std::int64_t entries = 0;
    target_address base;
    [[nodiscard]] bool is_there() const { return entries > 0 && !base.is_null(); }
  };
  [[nodiscard]] result<extent> table_extent(const target& starter) const;
  [[nodiscard]] result<process_table> read_table(const target& starter, const extent& where, actions& todo);
  [[nodiscard]] result<void> learn_layout(const target& starter, const extent& where, actions& todo);
  [[nodiscard]] result<void> read_ids(const target& starter, actions& todo);
  void report(process_table read, actions& todo);
};

/// Adds a problem to the list, unless it ends everything.
[[nodiscard]] result<void> add_problem(error what, actions& todo);

}  // namespace mpiacq::mpir

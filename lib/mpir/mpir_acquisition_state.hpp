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

/// Whether the target cannot be used any more. A variable or a table with a fault does not end the acquisition.
[[nodiscard]] inline bool ends_everything(const error& e) {
  return e.code == error_code::process_gone || e.code == error_code::permission;
}

/// One starter's acquisition. Members that return `result<void>` append to the list that they receive. They return an
/// error if the target cannot be read any more.
struct acquisition::state {
  explicit state(acquisition_options o) : options(std::move(o)) {}

  acquisition_options options;
  bool attached = false;  ///< attach mode; otherwise launch mode
  bool let_go = false;    ///< before_detach was called
  std::optional<symbol_set> symbols;
  std::optional<structure_layout> layout;
  std::shared_ptr<const process_table> table;
  job_facts facts;
  std::optional<target_address> planted;
  std::optional<watch_variable> watched;
  std::optional<symbol> debugged;  ///< the definition of MPIR_being_debugged for which a write of 1 was requested
  daemon_variables daemons;
  int looks_without_event = 0;  ///< readings of a complete table that waits for its spawn event
  /// The reason of an abort that was reported before MPIR_Breakpoint was reached.
  std::optional<std::optional<std::string>> told_abort;

  // first_actions.cpp: symbols, the first writes, the breakpoint.
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

  // mpir_events.cpp: the events of MPIR_debug_state.
  [[nodiscard]] result<actions> at_breakpoint(const target& starter);
  [[nodiscard]] result<void> report_event(const target& starter, actions& todo);
  [[nodiscard]] bool event_brings_daemons();
  [[nodiscard]] result<actions> at_state_written(const target& starter);
  /// Reports the table if it is complete. Otherwise returns how much of it is filled.
  [[nodiscard]] result<std::optional<await_table>> look_at_table(const target& starter, std::int64_t now, taking how,
                                                                 actions& todo);
  [[nodiscard]] result<std::int64_t> debug_state(const target& starter) const;
  [[nodiscard]] result<void> tell_abort(const target& starter, bool at_breakpoint, actions& todo);

  // table/table_reports.cpp: the table, its layout, the job's ids.
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

/// Adds a problem to the list. Returns the error instead if the target cannot be used any more.
[[nodiscard]] result<void> add_problem(error what, actions& todo);

}  // namespace mpiacq::mpir

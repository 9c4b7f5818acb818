// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mpiacq/check/check_observations.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/tracer.hpp"
#include "proc/process_facts.hpp"
#include "watch/rank_stack.hpp"

namespace mpiacq::check {

/// One process of the table on this node, looked at from outside: it is neither stopped nor traced.
class rank_watch {
 public:
  /// `user`: the starter's (process_table::user): the process is written to only while it belongs to that one.
  rank_watch(std::size_t rank, process_id pid, bool is_starter, debug_file_search search, std::optional<user_id> user);

  /// Where the process is now. `unknown` while it runs on a processor, and where it may not be looked at.
  [[nodiscard]] place look();
  [[nodiscard]] bool alive() const;
  [[nodiscard]] bool stopped() const;

  /// What does not change while it waits: symbols, environment, executable. `executable_name`: as the table has it.
  /// `starters_environment`: strings that end with null bytes.
  void describe(std::optional<std::string_view> executable_name, process_id starter,
                std::string_view starters_environment);
  /// Its symbols, where its libraries were not mapped yet when it was described.
  void describe_late();
  /// MPIR_debug_gate = 1. False where it has none, or it cannot be written.
  [[nodiscard]] bool open_gate();

  rank_seen seen;
  bool settled_before = false;  ///< an earlier spawn event has shown it
  bool done = false;            ///< it has gone on, or has been given up on
  bool seen_waiting = false;    ///< at the last look

 private:
  [[nodiscard]] bool open_symbols();
  void describe_symbols();
  void describe_environment(const process_facts& own, std::string_view starters);

  debug_file_search search_;
  process_memory memory_;
  std::unique_ptr<process_symbols> symbols_;
  std::optional<landmarks> landmarks_;
  std::optional<symbol> gate_;
};

/// Whether `name` (in `executable_name`) names the file that the process runs; a script's name is right for its
/// interpreter. Empty if that is not known.
[[nodiscard]] std::optional<bool> names_executable_of(const process_facts& process, process_id starter,
                                                      std::string_view name);

}  // namespace mpiacq::check

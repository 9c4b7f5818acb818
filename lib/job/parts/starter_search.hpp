// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "mpiacq/base/ids.hpp"

namespace mpiacq {

/// Which of the followed processes is the starter. What was launched may be a script, and the starter its child or
/// grandchild: all are followed until one of them spawns the job. The children of a process with the interface are not
/// followed, because they are its ranks. The interface alone does not make a process the starter: Open MPI's ompi_info
/// and every rank map the library that defines it.
class starter_search {
 public:
  /// `root`: what was launched or attached to. It is the best guess at first.
  explicit starter_search(process_id root) : starter_(root), processes_{{root, is_alive}} {}

  /// The one that has spawned the job; before one has, the best guess.
  [[nodiscard]] process_id starter() const { return starter_; }
  /// A process has spawned the job.
  [[nodiscard]] bool is_over() const { return is_over_; }
  /// Whether a child of this process may be the starter.
  [[nodiscard]] bool follows_child_of(process_id parent, bool parent_has_interface) const;

  void add(process_id process) { processes_[process] = is_alive; }
  /// The process defines the interface. True where it is a new best guess.
  [[nodiscard]] bool found_interface(process_id process);
  /// The process has spawned the job. True the first time: the search is over.
  [[nodiscard]] bool has_spawned(process_id process);
  /// True where another process is the best guess now: the process that ended had the interface and spawned nothing.
  [[nodiscard]] bool process_ended(process_id process);

  /// No event of this process follows.
  void remove(process_id process) { processes_.erase(process); }

  [[nodiscard]] bool is_any_alive() const;
  /// The living processes beside the starter.
  [[nodiscard]] std::vector<process_id> others() const;

 private:
  static constexpr bool is_alive = true;

  process_id starter_;
  bool is_over_ = false;
  std::map<process_id, bool> processes_;  ///< the followed processes, and whether each is alive
};

}  // namespace mpiacq

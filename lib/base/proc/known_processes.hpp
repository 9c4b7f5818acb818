// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "proc/process_facts.hpp"

namespace mpiacq {

/// The facts of processes of this node, indexed by pid. Each process is read once, even if a search meets it often.
/// Thread: one at a time.
class known_processes {
 public:
  /// `proc`: for tests, a folder instead of /proc.
  explicit known_processes(std::string proc = proc_folder) : proc_(std::move(proc)) {}

  /// Null if there is no such process, or if it cannot be read. The answer is remembered.
  [[nodiscard]] std::shared_ptr<const process_facts> find(process_id pid);
  /// The parent of the process, the parent of that one, and so on, without process 1; at most 64 of them.
  [[nodiscard]] std::vector<process_id> ancestors_of(process_id pid);
  /// The numbers of all processes that this program can see.
  [[nodiscard]] std::vector<process_id> all() const;

 private:
  std::string proc_;
  std::unordered_map<process_id, std::shared_ptr<process_facts>> known_;
  std::vector<std::shared_ptr<process_facts>> open_;
};

}  // namespace mpiacq

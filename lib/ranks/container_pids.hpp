// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Processes of MPI2DD in containers: their tables have the numbers of their own pid namespace.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "mpiacq/base/time_limit.hpp"
#include "mpiacq/mpi2dd/mpi2dd_reading.hpp"
#include "proc/pid_namespace.hpp"

namespace mpiacq {

/// The translations of the pid namespaces of a job, each of which costs a look at all processes of this node. Thread:
/// any, several at a time.
class container_pids {
 public:
  using translation = std::shared_ptr<const pid_translation>;
  /// The last one of this namespace, or a new one if the last one was made before `since`.
  [[nodiscard]] translation of(const pid_namespace& space, deadline since);

 private:
  struct made {
    deadline at;
    translation what;
  };
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, made> known_;  ///< by the number of the namespace
};

/// An opened process whose tables have the numbers of another pid namespace.
class process_in_container final : public mpi2dd::opened_process {
 public:
  /// `is_here`: whether this name of a host, as a table has it, is this node.
  process_in_container(std::unique_ptr<mpi2dd::opened_process> process, const pid_namespace& space,
                       std::shared_ptr<container_pids> pids, std::function<bool(std::string_view)> is_here);

  [[nodiscard]] target as_target() override { return process_->as_target(); }
  [[nodiscard]] bool has_other_pids() const override { return true; }
  [[nodiscard]] std::int32_t pid_here(std::string_view host, std::int32_t pid) override;

 private:
  std::unique_ptr<mpi2dd::opened_process> process_;
  pid_namespace space_;
  std::shared_ptr<container_pids> pids_;
  std::function<bool(std::string_view)> is_here_;
  container_pids::translation translation_;
  deadline opened_ = clock::now();
  bool is_fresh_ = false;  ///< the translation was made after the process was opened
};

}  // namespace mpiacq

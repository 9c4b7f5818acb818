// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Opens processes of this node for a walk over an MPI2DD job.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "container_pids.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/mpi2dd/mpi2dd_graph.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "proc/local_host.hpp"
#include "proc/process_facts.hpp"

namespace mpiacq {

/// Opens processes of this node. They run while they are read; nothing is stopped or written.
///
///   const auto targets = local_targets::around(pid, search);
///   auto graph = mpi2dd::walk(targets.start(pid), targets.opener(), targets.options());
///
/// Debug files are searched only in folders, because a debuginfod server would be asked once for each process without
/// the interface. Thread: any, several at a time. The results of `opener` and `options` must not outlive this object.
class local_targets {
 public:
  explicit local_targets(debug_file_search search = {}, local_host here = local_host::of_this_system());
  /// Makes targets for the job of process `named` of this node. The resource manager may have its own name for this
  /// host. Processes of another user are not opened (process_user.hpp). `user`: the owner of the processes that may be
  /// opened; empty: the user of `named`.
  [[nodiscard]] static local_targets around(const process_facts& named, debug_file_search search = {},
                                            std::optional<user_id> user = {});
  [[nodiscard]] static local_targets around(process_id named, debug_file_search search = {},
                                            std::optional<user_id> user = {});

  /// From now on only processes of this user are opened; empty: processes of all users.
  void only_of(std::optional<user_id> user) { user_ = user; }
  [[nodiscard]] std::optional<user_id> user() const { return user_; }

  /// The name of this host in graphs.
  [[nodiscard]] const std::string& host() const { return name_; }
  [[nodiscard]] bool is_here(std::string_view host) const;
  /// `host()` for each name of this host; any other name unchanged.
  [[nodiscard]] std::string canonical_host(std::string_view host) const;

  /// Errors: process_gone; permission (the message names the kernel setting, or the owner of the process); unsupported
  /// (the process is on another host); bad_format (the executable is not a supported ELF program).
  [[nodiscard]] result<std::unique_ptr<mpi2dd::opened_process>> open(std::string_view host, process_id pid,
                                                                     std::string_view executable) const;

  // For mpi2dd::walk and mpi2dd::refresh.
  [[nodiscard]] mpi2dd::opener opener() const;
  [[nodiscard]] mpi2dd::walk_start start(const process_facts& process) const;
  [[nodiscard]] mpi2dd::walk_start start(process_id pid) const;
  /// `base`, with `host()` as the only name of this host. Every other name is another host.
  [[nodiscard]] mpi2dd::walk_options options(mpi2dd::walk_options base = {}) const;

 private:
  /// The process as it is, or with its pids translated if it is in a container.
  [[nodiscard]] std::unique_ptr<mpi2dd::opened_process> seen_from_here(std::unique_ptr<mpi2dd::opened_process> process,
                                                                       const process_facts& facts) const;

  debug_file_search search_;
  local_host here_;
  std::string name_;
  std::string also_called_;  ///< the resource manager's name for this host; may be empty
  std::optional<user_id> user_;
  std::shared_ptr<container_pids> pids_ = std::make_shared<container_pids>();
};

}  // namespace mpiacq

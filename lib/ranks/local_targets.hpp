// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The processes of this node as a walk over an MPI2DD job opens them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/mpi2dd/mpi2dd_graph.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "proc/local_host.hpp"
#include "proc/process_facts.hpp"

namespace mpiacq {

/// Opens processes of this node: each is read while it runs, nothing is stopped and nothing can be written.
///
///   const auto targets = local_targets::around(pid, search);
///   auto graph = mpi2dd::walk(targets.start(pid), targets.opener(), targets.options());
///
/// Debug files are looked for in folders alone: a server would be asked once for each process without the interface.
/// Thread: any, several at a time. What `opener` and `options` give must not outlive this.
class local_targets {
 public:
  explicit local_targets(debug_file_search search = {}, local_host here = local_host::of_this_system());
  /// For the job of a process of this node: the resource manager may have its own name for this host, and processes of
  /// another user are not opened (process_user.hpp). `user`: whose processes; empty: those of the user of `named`.
  [[nodiscard]] static local_targets around(const process_facts& named, debug_file_search search = {},
                                            std::optional<user_id> user = {});
  [[nodiscard]] static local_targets around(process_id named, debug_file_search search = {},
                                            std::optional<user_id> user = {});

  /// From now on only processes of this user are opened; empty: whosever they are.
  void only_of(std::optional<user_id> user) { user_ = user; }
  [[nodiscard]] std::optional<user_id> user() const { return user_; }

  /// The one name that this host goes by in graphs.
  [[nodiscard]] const std::string& host() const { return name_; }
  [[nodiscard]] bool is_here(std::string_view host) const;
  /// `host()` for each name of this host; any other as it is.
  [[nodiscard]] std::string canonical_host(std::string_view host) const;

  /// Errors: process_gone; permission (with the setting, or whose process it is); unsupported (it is on another host);
  /// bad_format (what it runs is no program of a kind we know).
  [[nodiscard]] result<std::unique_ptr<mpi2dd::opened_process>> open(std::string_view host, process_id pid,
                                                                     std::string_view executable) const;

  // For mpi2dd::walk and mpi2dd::refresh.
  [[nodiscard]] mpi2dd::opener opener() const;
  [[nodiscard]] mpi2dd::walk_start start(const process_facts& process) const;
  [[nodiscard]] mpi2dd::walk_start start(process_id pid) const;
  /// `base` with this host's names made one, and all others elsewhere.
  [[nodiscard]] mpi2dd::walk_options options(mpi2dd::walk_options base = {}) const;

 private:
  debug_file_search search_;
  local_host here_;
  std::string name_;
  std::string also_called_;  ///< by the resource manager; may be empty
  std::optional<user_id> user_;
};

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "proc/process_facts.hpp"
#include "running_target.hpp"

namespace mpiacq {

using process_pointer = std::shared_ptr<const process_facts>;

/// The starter of the job that the user meant by a process number.
struct found_starter {
  process_id pid;
  process_pointer process;  ///< its facts; null if there is no such process, or it is a zombie
  std::string how;          ///< one sentence if it is another process than the one named, else empty
  interface_kind interface = interface_kind::mpir;
  std::shared_ptr<running_target> target = {};  ///< the process opened for reading; null if the search closed it
};

/// Error process_gone: the found process has ended, or has changed its user, since it was found. A caller asks this
/// after it has taken hold of the process by its number, which may have become another user's.
[[nodiscard]] result<void> still_the_starter(const found_starter& found);

/// For MPIR, the starter is the first of these:
/// - the process that `named` was forked from without an exec, if that has a table;
/// - `named`, if it has a table, or if it defines the interface and its environment does not make it a rank;
/// - the process whose table lists `named`: an ancestor of it, or another process of this node;
/// - a process that `named`, a wrapper, has started.
/// A process with MPI2DD leads to all of its job (mpi2dd_starter.hpp), and is tried first, unless `choice` is MPIR.
/// Only processes of the user of `named` count. Nothing is stopped. Debug files are looked for as `search` says, but a
/// server is asked only for those of `named`. If `named` has ended or may not be read, it is returned: the attach then
/// says why. Errors: not_found (the message says what the process is and where its starter may be).
[[nodiscard]] result<found_starter> find_starter(process_id named, const debug_file_search& search,
                                                 std::optional<interface_kind> choice = {});

/// "4242 (/usr/bin/app)"; "4242" if the executable cannot be read.
[[nodiscard]] std::string with_executable(const process_facts& process);

}  // namespace mpiacq

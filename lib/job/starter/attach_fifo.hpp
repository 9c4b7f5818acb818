// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq {

/// Writes the byte 1 into a starter's MPIR_attach_fifo, so that the starter looks at MPIR_being_debugged
/// (MPIR 1.1, 7.2, 9.17). `path` is the starter's word, and is looked up as the starter itself would: below its root,
/// in its mount namespace, and from its working directory where it is relative.
///
/// What is there must be a FIFO, itself and no link to one, of the user that the starter runs as; nothing else is
/// opened for writing, and nothing is created. It never blocks. SIGPIPE is kept from the host program. Errors:
/// process_gone, not_found (no such file), permission (a link, another owner's, or not ours to look at or to write),
/// bad_format (no FIFO), busy (nobody reads it, or it is full), system; each with the path.
[[nodiscard]] result<void> kick_attach_fifo(const std::string& path, process_id starter);

}  // namespace mpiacq

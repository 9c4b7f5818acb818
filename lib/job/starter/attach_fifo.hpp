// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq {

/// Writes the byte 1 into a starter's MPIR_attach_fifo, so that the starter looks at MPIR_being_debugged
/// (MPIR 1.1, 7.2, 9.17). The starter has named `path`. It is looked up as the starter would do it: below its root, in
/// its mount namespace, and from its working directory if it is relative.
///
/// The file must be a FIFO that belongs to the starter's user, and not a link to one. Nothing else is opened for
/// writing, and nothing is created. The call never blocks, and the host program gets no SIGPIPE. Errors: process_gone,
/// not_found (no such file), permission (a link, another owner, or no right to find or to write the file), bad_format
/// (no FIFO), busy (no reader, or full), system; each with the path.
[[nodiscard]] result<void> kick_attach_fifo(const std::string& path, process_id starter);

}  // namespace mpiacq

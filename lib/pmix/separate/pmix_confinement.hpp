// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace mpiacq::pmix {

/// What the helper process gives up before a PMIx library is loaded in it. The library needs threads, files and the
/// network; it needs no other process. So the helper loses capabilities, new privileges, core files and long files, and
/// the kernel answers EPERM to every call that starts a program, traces, reads, writes or signals another process, or
/// changes namespaces, mounts or the kernel. On a kernel without such filters the rest holds.
void confine_pmix();

}  // namespace mpiacq::pmix

# Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
# MPIACQ_HAVE_32_BIT_PROGRAMS: the compiler makes programs of 32 bits here, with MPIACQ_32_BIT_OPTIONS (libc6-dev-i386),
# and the kernel runs them. Some virtual machines run 64-bit programs alone.
include(CheckCSourceRuns)
# The kernel's headers are the same for both widths; gcc-multilib, which would lead there, keeps cross compilers away.
set(MPIACQ_32_BIT_OPTIONS -m32 -idirafter /usr/include/x86_64-linux-gnu)
string(REPLACE ";" " " CMAKE_REQUIRED_FLAGS "${MPIACQ_32_BIT_OPTIONS}")
check_c_source_runs("#include <errno.h>\n#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }" MPIACQ_HAVE_32_BIT_PROGRAMS)
unset(CMAKE_REQUIRED_FLAGS)

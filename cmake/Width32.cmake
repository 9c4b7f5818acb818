# Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
# MPIACQ_HAVE_32_BIT_LIBC: the compiler makes programs of 32 bits here, with MPIACQ_32_BIT_OPTIONS (libc6-dev-i386).
include(CheckCSourceCompiles)
# The kernel's headers are the same for both widths; gcc-multilib, which would lead there, keeps cross compilers away.
set(MPIACQ_32_BIT_OPTIONS -m32 -idirafter /usr/include/x86_64-linux-gnu)
string(REPLACE ";" " " CMAKE_REQUIRED_FLAGS "${MPIACQ_32_BIT_OPTIONS}")
check_c_source_compiles("#include <errno.h>\n#include <stdio.h>\nint main(void) { return puts(\"\"); }" MPIACQ_HAVE_32_BIT_LIBC)
unset(CMAKE_REQUIRED_FLAGS)

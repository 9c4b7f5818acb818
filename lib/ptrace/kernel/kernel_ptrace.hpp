// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Includes both headers of ptrace. The C library's comes first, because its enumerators have the same names as the
// kernel's macros.
#pragma once

// clang-format off
#include <sys/ptrace.h>
#include <linux/ptrace.h>
// clang-format on

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Both headers of ptrace. The library's comes first: it names its enumerators as the kernel's names its macros.
#pragma once

// clang-format off
#include <sys/ptrace.h>
#include <linux/ptrace.h>
// clang-format on

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// {fmt} for a program that is to need no shared library: the distribution has it as one alone. With its definitions in
// the header and -fkeep-inline-functions the compiler makes all of them here.
#undef FMT_SHARED
#define FMT_HEADER_ONLY 1
#include <fmt/format.h>

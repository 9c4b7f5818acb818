// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// MPIACQ_ADDRESS_SANITIZER is defined where the test program has AddressSanitizer. GCC and clang say it in different
// ways.
#pragma once

#ifdef __SANITIZE_ADDRESS__
#define MPIACQ_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MPIACQ_ADDRESS_SANITIZER
#endif
#endif

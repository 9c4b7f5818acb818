// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// MPIACQ_ADDRESS_SANITIZER and MPIACQ_THREAD_SANITIZER are defined where the test program has this sanitizer. GCC and
// clang say it in different ways.
#pragma once

#ifdef __SANITIZE_ADDRESS__
#define MPIACQ_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MPIACQ_ADDRESS_SANITIZER
#endif
#endif

#ifdef __SANITIZE_THREAD__
#define MPIACQ_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MPIACQ_THREAD_SANITIZER
#endif
#endif

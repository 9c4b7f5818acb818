// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The notes of the tracer server to its guard (guard.hpp) about the processes that it traces.
#pragma once

#include <cstdint>
#include <tuple>
#include <variant>
#include <vector>

#include "engine/tracee.hpp"
#include "wire/tracer_messages.hpp"

namespace mpiacq::tracing {

/// A software breakpoint: the bytes that its trap instruction replaces.
struct guarded_trap {
  target_address address;
  std::vector<std::byte> original;
};
/// A write of tracer::restore_on_exit.
struct guarded_write {
  target_address address;
  std::vector<std::byte> bytes;
};
/// A process in which breakpoints or changed variables would stay if the tracer server were killed, or whose end only a
/// tracer learns. A note replaces the previous one about the same process.
struct guarded_process {
  std::int32_t id = 0;
  std::uint64_t start_time = 0;  ///< field 22 of /proc/PID/stat; 0: unknown
  bool launched = false;
  bool has_hardware = false;  ///< breakpoint registers of its threads may be set
  std::vector<guarded_trap> traps;
  std::vector<guarded_write> writes;
};
/// The process needs no guard any more.
struct forgotten_process {
  std::int32_t id = 0;
};
using guard_note = std::variant<guarded_process, forgotten_process>;

/// The note with the current state of the process.
[[nodiscard]] guard_note note_about(const traced_process& process);

}  // namespace mpiacq::tracing

namespace mpiacq {

template <>
inline constexpr auto members<tracing::guarded_trap> =
    std::tuple{&tracing::guarded_trap::address, &tracing::guarded_trap::original};
template <>
inline constexpr auto members<tracing::guarded_write> =
    std::tuple{&tracing::guarded_write::address, &tracing::guarded_write::bytes};
template <>
inline constexpr auto members<tracing::guarded_process> = std::tuple{
    &tracing::guarded_process::id,           &tracing::guarded_process::start_time, &tracing::guarded_process::launched,
    &tracing::guarded_process::has_hardware, &tracing::guarded_process::traps,      &tracing::guarded_process::writes};
template <>
inline constexpr auto members<tracing::forgotten_process> = std::tuple{&tracing::forgotten_process::id};

}  // namespace mpiacq

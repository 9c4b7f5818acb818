// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Watchpoints: debug registers that stop a thread after it has written to a place. They are armed and removed with the
// hardware breakpoints. A thread does not stand on a watchpoint: it continues from the next instruction.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "engine/breakpoints.hpp"
#include "errors/try.hpp"

namespace mpiacq::tracing {

namespace {

result<void> check_watch(target_address address, std::uint64_t length) {
  constexpr std::array<std::uint64_t, 4> lengths = {1, 2, 4, 8};
  if (std::find(lengths.begin(), lengths.end(), length) == lengths.end()) {
    return fail(error_code::invalid_argument,
                fmt::format("{} bytes cannot be watched: a register of the processor has 1, 2, 4 or 8", length));
  }
  if (address.is_null() || address.value() % length != 0) {
    return fail(error{error_code::invalid_argument,
                      fmt::format("{} bytes at {:#x} cannot be watched: the address must be a multiple of the length",
                                  length, address.value())}
                    .at(address));
  }
  return {};
}

}  // namespace

result<void> breakpoints::insert_watch(traced_process& process, target_address address, std::uint64_t length) {
  TRY(check_watch(address, length));
  if (const char* reason = arch::why_no_writes()) return fail(error{error_code::unsupported, reason}.at(address));
  breakpoint_set& set = process.breakpoints;
  if (const breakpoint* const known = set.watch_at(address)) {
    if (known->written == length) return {};
    return fail(error{
        error_code::invalid_argument,
        fmt::format("{} bytes at {:#x} are watched already, so {} cannot be", known->written, address.value(), length)}
                    .at(address));
  }
  set.had_any = true;
  breakpoint planted;
  planted.address = address;
  planted.for_user = true;
  planted.written = static_cast<std::uint8_t>(length);
  TRY(insert_hardware(process, planted.trigger()));
  set.all.push_back(planted);
  return {};
}

void breakpoints::remove_watch(traced_process& process, target_address address) {
  std::erase_if(process.breakpoints.all, [&](const breakpoint& b) {
    const bool is_it = b.watches(address);
    if (is_it) free_register(process, b.trigger());
    return is_it;
  });
}

}  // namespace mpiacq::tracing

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/process_patches.hpp"

#include <utility>

#include "errors/try.hpp"

namespace mpiacq {

namespace {

result<void> unless_unsupported(result<void> done) {
  if (!done && done.error().code == error_code::unsupported) return {};
  return done;
}

}  // namespace

result<void> process_patches::apply(followed_process& process, const mpir::plant_breakpoint& what) {
  (void)TRY(traps_.insert_breakpoint(process.pid, what.address, kind_));
  return {};
}

result<void> process_patches::apply(followed_process& process, const mpir::lift_breakpoint& what) {
  return traps_.remove_breakpoint(process.pid, what.address);
}

result<void> process_patches::apply(followed_process& process, const mpir::watch_variable& what) {
  return unless_unsupported(traps_.insert_watchpoint(process.pid, what.address, what.length));
}

result<void> process_patches::apply(followed_process& process, const mpir::unwatch_variable& what) {
  return unless_unsupported(traps_.remove_watchpoint(process.pid, what.address));
}

/// What is to be restored is announced before the write that makes it necessary, and withdrawn after the write that
/// makes it superfluous: if this program is killed between the two, the process is still left as it should be.
result<void> process_patches::write(followed_process& process, const write_bytes& what, write_duration duration) {
  if (duration == write_duration::for_good) {
    TRY(process.program.write(what.address, what.bytes));
    return traps_.restore_on_exit(process.pid, what.address, {});
  }
  if (what.restored_on_exit) {
    TRY(traps_.restore_on_exit(process.pid, what.address, *what.restored_on_exit));
    return process.program.write(what.address, what.bytes);
  }
  if (!is_launched_) return process.program.write_while_here(what.address, what.bytes);
  if (what.until_the_table) process.announced = what;
  return process.program.write(what.address, what.bytes);
}

result<void> process_patches::table_is_reported(followed_process& process) {
  const auto announced = std::exchange(process.announced, std::nullopt);
  if (!announced) return {};
  const std::vector<std::byte> zero(announced->bytes.size());
  return traps_.restore_on_exit(process.pid, announced->address, zero);
}

}  // namespace mpiacq

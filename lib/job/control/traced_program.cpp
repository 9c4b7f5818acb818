// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "control/traced_program.hpp"

#include <utility>

#include "errors/try.hpp"
#include "mpiacq/process/process_user.hpp"

namespace mpiacq {

traced_program::traced_program(trap_control& traps, process_id pid, debug_file_search search,
                               std::optional<user_id> user)
    : traps_(traps), pid_(pid), search_(std::move(search)), memory_(pid, user), cache_(memory_) {}

result<void> traced_program::open() {
  // An exec took breakpoints and memory with it.
  watch_.reset();
  symbols_.reset();
  cache_.forget();
  symbols_ = TRY(process_symbols::open(pid_, cache_, search_));
  return {};
}

target traced_program::view() {
  // The table is read once and in bulk: a cache would only copy it. Symbol lookups come back to the same pages.
  return target{memory_, &memory_, symbols_->abi(), *symbols_, user_of(pid_)};
}

result<void> traced_program::write(target_address address, std::span<const std::byte> bytes) {
  cache_.forget();
  return memory_.write(address, bytes);
}

result<void> traced_program::write_while_here(target_address address, std::span<const std::byte> bytes) {
  std::vector<std::byte> before(bytes.size());
  TRY(read_exact(memory_, address, before));
  TRY(traps_.restore_on_exit(pid_, address, before));
  return write(address, bytes);
}

result<void> traced_program::watch_link_map() {
  if (watch_ || !symbols_) return {};
  const auto where = symbols_->link_map_breakpoint();
  if (!where) return {};
  (void)TRY(traps_.insert_breakpoint(pid_, *where, breakpoint_kind::automatic));
  watch_ = where;
  return {};
}

result<void> traced_program::stop_watching_link_map() {
  const auto where = std::exchange(watch_, std::nullopt);
  return where ? traps_.remove_breakpoint(pid_, *where) : result<void>{};
}

void traced_program::about_to_run() {
  cache_.forget();
}

}  // namespace mpiacq

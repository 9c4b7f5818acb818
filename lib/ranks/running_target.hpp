// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "errors/try.hpp"
#include "mpiacq/mpi2dd/mpi2dd_reading.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/tracer.hpp"

namespace mpiacq {

/// A process of this node that runs while it is read. Nothing can be written. The symbols are read once, because the
/// dynamic linker does not change them. Libraries that the process loads later are not seen.
class running_target final : public mpi2dd::opened_process {
 public:
  /// `user`: as in `target`. Errors: those of process_symbols::open.
  [[nodiscard]] static result<std::unique_ptr<running_target>> open(process_id pid, const debug_file_search& search,
                                                                    std::optional<user_id> user = {}) {
    std::unique_ptr<running_target> opened(new running_target(pid, user));
    opened->symbols_ = TRY(process_symbols::open(pid, opened->cache_, search));
    return opened;
  }

  /// Each read sees the current memory, because a table may change while it is read.
  [[nodiscard]] target as_target() override { return {memory_, nullptr, symbols_->abi(), *symbols_, user_}; }
  /// The same process through a page cache that `forget` empties: for many small reads of one look.
  [[nodiscard]] target remembered() { return {cache_, nullptr, symbols_->abi(), *symbols_, user_}; }
  /// Empties the page cache of `remembered`.
  void forget() { cache_.forget(); }
  [[nodiscard]] process_symbols& symbols() { return *symbols_; }

 private:
  running_target(process_id pid, std::optional<user_id> user) : memory_(pid), cache_(memory_), user_(user) {}

  process_memory memory_;
  page_cache cache_;
  std::unique_ptr<process_symbols> symbols_;
  std::optional<user_id> user_;
};

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "mpiacq/process/tracer.hpp"

namespace mpiacq {

/// What a job does by itself after some time. Of several that are due, the first in this order comes first.
enum class job_timer : std::uint8_t {
  kill,     ///< `end`: the starter has had its time to end on SIGTERM
  finish,   ///< all processes have ended, and no birth was reported since
  gates,    ///< the closed gates are tried again
  daemons,  ///< the starter's children are looked at again for the tool's daemons
  table,    ///< the starter's table is looked at again
  ranks,    ///< the ranks of a starter without an interface are looked for
};
inline constexpr std::size_t job_timer_count = 6;

/// The deadlines of a job.
class job_timers {
 public:
  /// `now`: the clock. A test gives its own.
  explicit job_timers(std::function<deadline()> now = clock::now);

  /// Due after `delay`, instead of when it was due before.
  void set(job_timer which, clock::duration delay) { due(which) = now_() + delay; }
  void clear(job_timer which) { due(which) = no_deadline; }
  /// The earliest deadline; no_deadline where no timer is set.
  [[nodiscard]] deadline wake_at() const;
  /// A timer that is due, which is cleared by this.
  [[nodiscard]] std::optional<job_timer> take_due();
  [[nodiscard]] deadline now() const { return now_(); }

 private:
  deadline& due(job_timer which) { return due_[static_cast<std::size_t>(which)]; }

  std::function<deadline()> now_;
  std::array<deadline, job_timer_count> due_{};
};

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace mpiacq::base {

/// Blocks all signals of the calling thread while the object lives. A thread that is started meanwhile inherits the
/// blocked signals and keeps them: only the host program's own threads handle the host program's signals.
class all_signals_blocked {
 public:
  all_signals_blocked() {
    sigset_t all;
    sigfillset(&all);
    (void)::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~all_signals_blocked() { (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  all_signals_blocked(const all_signals_blocked&) = delete;
  all_signals_blocked& operator=(const all_signals_blocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace mpiacq::base

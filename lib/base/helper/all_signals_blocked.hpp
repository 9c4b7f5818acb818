// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace mpiacq::base {

/// Blocks all signals of the calling thread for as long as it lives. A thread that is started meanwhile inherits the
/// blocked signals and keeps them: the signals of the host program are for the threads of the host program.
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

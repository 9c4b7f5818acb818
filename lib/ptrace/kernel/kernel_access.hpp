// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/code_memory.hpp"
#include "kernel/ptrace_call.hpp"
#include "kernel/task_reader.hpp"

namespace mpiacq::tracing {

/// The kernel interfaces that the parts of the engine use. Tests pass fakes.
struct kernel_access {
  const ptrace_calls& calls;
  code_memory& memory;
  const task_reader& tasks;
};

/// The kernel of this machine. The thread that constructs this object is the tracer.
class this_kernel {
 public:
  [[nodiscard]] kernel_access access() { return {calls_, memory_, tasks_}; }

 private:
  kernel_ptrace_calls calls_;
  proc_code_memory memory_;
  proc_task_reader tasks_;
};

}  // namespace mpiacq::tracing

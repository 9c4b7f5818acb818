// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace mpiacq::tracing {

/// The number of calls of `call_within` that have passed their limit and still run.
inline std::atomic<int> overdue_calls{0};

/// Calls `work` on a new thread, and waits no longer than `limit`. Empty if the call has not returned by then; the
/// thread stays behind. The memory of a process can be a file of a server that does not answer, and the kernel then
/// blocks the caller. `work` must own everything that it uses.
template <class T>
[[nodiscard]] std::optional<T> call_within(std::chrono::milliseconds limit, std::function<T()> work) {
  const auto state = std::make_shared<std::atomic<int>>(0);  // 1: the first of the two sides has passed
  std::packaged_task<T()> task([work = std::move(work), state] {
    T answer = work();
    if (state->exchange(1) == 1) --overdue_calls;
    return answer;
  });
  auto answer = task.get_future();
  try {
    std::thread(std::move(task)).detach();
  } catch (const std::system_error&) {
    // The system has no thread left. This counts as no answer, because the tracer server itself must never wait.
    return std::nullopt;
  }
  if (answer.wait_for(limit) == std::future_status::ready) return answer.get();
  ++overdue_calls;
  if (state->exchange(1) == 1) --overdue_calls;
  return std::nullopt;
}

}  // namespace mpiacq::tracing

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "library/process_answers.hpp"
#include "mpiacq/queues/queue_host.hpp"
#include "separate/queue_messages.hpp"
#include "separate/shared_area.hpp"

namespace mpiacq::mqd_host {

/// Answers the separate process's requests in the tool, from the target process and within limits.
class answer_server {
 public:
  /// `names` finds functions and symbols. `subject`, `names` and `limits` must outlive this object.
  answer_server(const queue_subject& subject, process_answers& names, const queue_limits& limits)
      : subject_(subject), names_(names), limits_(limits) {}

  /// Returns the bytes of the answer. An error ends the session: the process cannot be read any more, or a limit was
  /// reached.
  [[nodiscard]] result<std::vector<std::byte>> answer(const look_up_request& what);
  [[nodiscard]] result<std::vector<std::byte>> answer(const type_request& what);
  /// As above; the pages themselves go into the window of `area`.
  [[nodiscard]] result<std::vector<std::byte>> answer(const memory_request& what, shared_area& area);

 private:
  const queue_subject& subject_;
  process_answers& names_;
  const queue_limits& limits_;
  std::uint64_t fetched_ = 0;
  std::uint64_t look_ups_ = 0;
};

}  // namespace mpiacq::mqd_host

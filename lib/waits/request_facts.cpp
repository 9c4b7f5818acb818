// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "request_facts.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace mpiacq::waits {

namespace {

/// What one request is for, and what several are for.
struct request_words {
  std::string_view one, several;
};
request_words words_for(mpi_request_kind purpose) {
  switch (purpose) {
    case mpi_request_kind::point_to_point:
      return {"a point-to-point operation", "point-to-point operations"};
    case mpi_request_kind::collective:
      return {"a collective operation", "collective operations"};
    case mpi_request_kind::communicator:
      return {"the copy of a communicator", "copies of communicators"};
    case mpi_request_kind::window:
      return {"an operation on a window", "operations on windows"};
    case mpi_request_kind::file:
      return {"an operation on a file", "operations on files"};
    case mpi_request_kind::generalized:
      return {"a request that the program itself completes", "requests that the program itself completes"};
    case mpi_request_kind::partitioned:
      return {"a partitioned operation", "partitioned operations"};
  }
  return {"a request", "requests"};
}

}  // namespace

bool is_message(const pending_requests& one) {
  return one.kind == mpi_request_kind::point_to_point || one.kind == mpi_request_kind::partitioned;
}

bool knows_requests(const rank_activity& doing) {
  return doing.requests && doing.requests->unknown == 0;
}

bool may_wait_for_messages(const rank_activity& doing) {
  if (!knows_requests(doing)) return true;
  const auto& pending = doing.requests->pending;
  return std::any_of(pending.begin(), pending.end(), is_message);
}

bool has_other_requests(const rank_activity& doing) {
  if (!doing.requests) return false;
  const auto& pending = doing.requests->pending;
  return !std::all_of(pending.begin(), pending.end(), is_message);
}

bool needs_each_request(const rank_activity& doing) {
  if (doing.kind != mpi_call_kind::wait_any) return true;
  const auto& pending = doing.requests->pending;
  return pending.size() == 1 && knows_requests(doing);
}

std::string requests_text(const pending_requests& requests) {
  const request_words words = words_for(requests.kind);
  return requests.count == 1 ? std::string(words.one) : fmt::format("{} {}", requests.count, words.several);
}

}  // namespace mpiacq::waits

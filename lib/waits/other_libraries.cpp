// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "other_libraries.hpp"

#include <algorithm>
#include <array>

namespace mpiacq::waits {

namespace {

/// Functions of NCCL and RCCL that may wait for other ranks. Their other functions begin with "nccl", too.
constexpr std::array<std::string_view, 18> nccl_calls = {
    "ncclAllGather", "ncclAllReduce",          "ncclAllToAll",     "ncclAllToAllv",   "ncclBcast",
    "ncclBroadcast", "ncclCommDestroy",        "ncclCommFinalize", "ncclCommInitAll", "ncclCommInitRank",
    "ncclCommSplit", "ncclCommInitRankConfig", "ncclGather",       "ncclGroupEnd",    "ncclRecv",
    "ncclReduce",    "ncclReduceScatter",      "ncclSend"};
/// The namespaces of torch.distributed and of Gloo.
constexpr std::array<std::string_view, 2> namespaces = {"c10d::", "gloo::"};

/// "c10d::Work::wait" of "c10d::Work::wait(std::chrono::duration<...>)".
std::string_view without_parameters(std::string_view function) {
  return function.substr(0, function.find_first_of("(<["));
}

bool is_call(std::string_view function) {
  return std::find(nccl_calls.begin(), nccl_calls.end(), function) != nccl_calls.end() ||
         std::any_of(namespaces.begin(), namespaces.end(),
                     [&](std::string_view prefix) { return function.starts_with(prefix); });
}

}  // namespace

rank_activity activity_in_other_library(std::string_view function) {
  // "@plt": the frame of a call that is still being bound.
  const std::string_view name = without_parameters(function.substr(0, function.find('@')));
  rank_activity found;
  found.kind = is_call(name) ? mpi_call_kind::other : mpi_call_kind::none;
  if (found.kind == mpi_call_kind::other) found.function = name;
  return found;
}

}  // namespace mpiacq::waits

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "objects/named_requests.hpp"

#include <algorithm>

namespace mpiacq {

namespace {

const mpi_argument* argument_with(std::span<const mpi_argument> arguments, mpi_role wanted) {
  const auto found = std::find_if(arguments.begin(), arguments.end(),
                                  [&](const mpi_argument& one) { return one.role == wanted && one.is_known; });
  return found == arguments.end() ? nullptr : &*found;
}

std::optional<named_requests> handles_in(const mpi_argument& array, std::uint64_t count, std::size_t width,
                                         const target_abi& abi, memory_reader& memory) {
  named_requests found;
  const std::uint64_t looked_at = std::min(count, most_requests);
  found.beyond = count - looked_at;
  std::vector<std::byte> bytes(static_cast<std::size_t>(looked_at) * width);
  if (!read_exact(memory, target_address{static_cast<std::uint64_t>(array.value)}, bytes)) return std::nullopt;
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    found.handles.push_back(decode_unsigned(std::span{bytes}.subspan(at, width), abi.order));
  }
  return found;
}

}  // namespace

std::optional<named_requests> named_by(std::span<const mpi_argument> arguments, std::size_t width,
                                       const target_abi& abi, memory_reader& memory) {
  const mpi_argument* request = argument_with(arguments, mpi_role::request);
  if (request == nullptr) return std::nullopt;
  if (!request->is_address) return named_requests{{static_cast<std::uint64_t>(request->value)}};
  const mpi_argument* count = argument_with(arguments, mpi_role::request_count);
  if (count == nullptr || count->value < 0) return std::nullopt;
  return handles_in(*request, static_cast<std::uint64_t>(count->value), width, abi, memory);
}

}  // namespace mpiacq

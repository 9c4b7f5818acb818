// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the tool and its tracing process read from each other. Whatever is taken for a message must, sent again, be the
// same message.
#include "wire/tracer_messages.hpp"

#include <cstdint>
#include <cstdlib>

using namespace mpiacq;
using namespace mpiacq::tracing;

namespace {

template <class T>
void read_as(std::span<const std::byte> bytes) {
  const auto message = decode<T>(bytes);
  if (!message) return;
  const auto again = encode(*message);
  const auto back = decode<T>(again);
  if (!back || encode(*back) != again) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes{reinterpret_cast<const std::byte*>(data), size};
  read_as<request_message>(bytes);
  read_as<process_event>(bytes);
  read_as<result<std::vector<thread_id>>>(bytes);
  read_as<std::vector<result<void>>>(bytes);
  read_as<std::vector<result<std::vector<thread_registers>>>>(bytes);
  return 0;
}

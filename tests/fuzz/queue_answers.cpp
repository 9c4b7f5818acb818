// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The other side: what the process of a queue library makes of the tool's first words and of its answers.
#include <cstdint>
#include <cstdlib>

#include <sys/socket.h>

#include "separate/remote_answers.hpp"

using namespace mpiacq;
using namespace mpiacq::mqd_host;

namespace {

/// Asks as a library does, of a tool that has said all this beforehand.
void ask(std::span<const std::byte> answers_said) {
  static shared_memory area = std::move(shared_memory::create()).value();
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return;
  const base::unique_fd ours{pair[0]};
  const base::unique_fd theirs{pair[1]};
  constexpr std::size_t room = 65536;  // what a socket holds without a reader
  static_cast<void>(::send(theirs.get(), answers_said.data(), std::min(answers_said.size(), room), MSG_DONTWAIT));
  ::shutdown(theirs.get(), SHUT_WR);
  const tool_link tool(ours.get());
  const target_abi abi;
  remote_answers answers(tool, *area, abi);
  std::vector<std::byte> bytes(10'000);
  for (int round = 0; round < 3; ++round) {
    const auto type = answers.find_type("type", source_language::c);
    if (type && *type) {
      static_cast<void>(answers.type_size(**type).value());
      static_cast<void>(answers.field_offset(**type, "field").value());
    }
    static_cast<void>(answers.find_symbol("symbol"));
    static_cast<void>(answers.find_function("function", source_language::fortran));
    static_cast<void>(answers.fetch(0x10ff8U, bytes));
    static_cast<void>(answers.fetch(UINT64_MAX - 9999, bytes));
  }
}

void begin(std::span<const std::byte> bytes) {
  const auto first = decode<begin_message>(bytes);
  if (!first) return;
  const auto again = encode(*first);
  if (encode(*decode<begin_message>(again)) != again) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span bytes{reinterpret_cast<const std::byte*>(data) + 1, size - 1};
  if (data[0] == 'a') ask(bytes);
  if (data[0] == 'b') begin(bytes);
  return 0;
}

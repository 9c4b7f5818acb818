// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What passes between the tool and its own processes: numbers into bytes and back, frames out of a stream, the records
// of a queue library.
#include <cstring>
#include <vector>

#include <benchmark/benchmark.h>

#include "frames.hpp"
#include "messages.hpp"
#include "wire.hpp"

using namespace mpiacq;

namespace {

/// The registers of so many threads: the answer to a hold.
void registers_there_and_back(benchmark::State& state) {
  std::vector<thread_registers> all(static_cast<std::size_t>(state.range(0)));
  for (thread_registers& one : all) one.count = 17;
  for (auto _ : state) {
    const auto bytes = helper::encode(all);
    const auto back = helper::decode<std::vector<thread_registers>>(bytes);
    if (!back || back->size() != all.size()) state.SkipWithError("decoding");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(registers_there_and_back)->ArgName("threads")->Arg(1)->Arg(1000);

/// One pending operation as the library's process says it.
void operation_record(benchmark::State& state) {
  queue_operation operation;
  const mqd_host::record said = operation;
  for (auto _ : state) {
    const auto bytes = helper::encode(said);
    if (!helper::decode<mqd_host::record>(bytes)) state.SkipWithError("decoding");
  }
}
BENCHMARK(operation_record);

/// A stream of frames, as it comes from a socket.
void split_frames(benchmark::State& state) {
  const std::vector<std::byte> frame = mqd_host::as_frame(std::vector<std::byte>(100));
  std::vector<std::byte> stream;
  for (int i = 0; i < state.range(0); ++i) stream.insert(stream.end(), frame.begin(), frame.end());
  for (auto _ : state) {
    mqd_host::frame_splitter splitter(1 << 16);
    const auto room = splitter.room(stream.size());
    std::memcpy(room.data(), stream.data(), stream.size());
    splitter.came(stream.size());
    std::int64_t count = 0;
    while (splitter.next()) ++count;
    if (count != state.range(0)) state.SkipWithError("splitting");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(split_frames)->ArgName("frames")->Arg(1000);

}  // namespace

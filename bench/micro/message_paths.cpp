// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What passes between the tool and its own processes: numbers into bytes and back, frames out of a stream, the records
// of a queue library, and what it fetches.
#include <cstring>
#include <vector>

#include <benchmark/benchmark.h>

#include "framing/frames.hpp"
#include "framing/wire.hpp"
#include "library/callbacks.hpp"
#include "library/process_answers.hpp"
#include "library/report_sink.hpp"
#include "mpiacq/base/memory.hpp"
#include "own_memory.hpp"
#include "separate/queue_messages.hpp"

using namespace mpiacq;

namespace {

/// The registers of so many threads: the answer to a hold.
void registers_there_and_back(benchmark::State& state) {
  std::vector<thread_registers> all(static_cast<std::size_t>(state.range(0)));
  for (thread_registers& one : all) one.count = 17;
  for (auto _ : state) {
    const auto bytes = base::encode(all);
    const auto back = base::decode<std::vector<thread_registers>>(bytes);
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
    const auto bytes = base::encode(said);
    if (!base::decode<mqd_host::record>(bytes)) state.SkipWithError("decoding");
  }
}
BENCHMARK(operation_record);

/// A stream of frames, as it comes from a socket.
void split_frames(benchmark::State& state) {
  const std::vector<std::byte> frame = base::as_frame(std::vector<std::byte>(100));
  std::vector<std::byte> stream;
  for (int i = 0; i < state.range(0); ++i) stream.insert(stream.end(), frame.begin(), frame.end());
  for (auto _ : state) {
    base::frame_splitter splitter(1 << 16);
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

/// Memory by pages, as in the tool.
class paged_answers final : public mqd_host::process_answers {
 public:
  [[nodiscard]] const target_abi& abi() const override { return abi_; }
  [[nodiscard]] result<std::optional<std::uint64_t>> find_function(std::string_view, source_language) override {
    return std::nullopt;
  }
  [[nodiscard]] result<std::optional<std::uint64_t>> find_symbol(std::string_view) override { return std::nullopt; }
  [[nodiscard]] result<std::optional<mqd_host::type_number>> find_type(std::string_view, source_language) override {
    return std::nullopt;
  }
  [[nodiscard]] result<std::int64_t> field_offset(mqd_host::type_number, std::string_view) override { return -1; }
  [[nodiscard]] result<std::uint64_t> type_size(mqd_host::type_number) override { return 0; }
  [[nodiscard]] result<bool> fetch(std::uint64_t address, std::span<std::byte> into) override {
    return read_exact(memory_, target_address{address}, into).has_value();
  }

 private:
  target_abi abi_;
  bench::own_memory own_;
  page_cache memory_{own_};
};

/// What a queue library calls for each field of each operation: a word of the rank, in the host's order.
void fetch_a_word(benchmark::State& state) {
  const std::vector<std::uint64_t> words(1 << 16, 7);
  paged_answers answers;
  const mqd_host::session_facts facts;
  queue_limits limits;
  limits.fetched_bytes = UINT64_MAX;
  mqd_host::report_builder sink("");
  const mqd_host::callback_session session(answers, facts, limits, sink);
  const auto& callbacks = mqd_host::process_callback_table();
  std::size_t next = 0;
  for (auto _ : state) {
    next = (next + 4099) % words.size();
    std::uint64_t there = 0, here = 0;
    const auto at = reinterpret_cast<mqd_host::abi::address>(words.data() + next);
    if (callbacks.fetch_data(mqd_host::process_handle(), at, sizeof there, &there) != mqd_host::abi::ok) {
      state.SkipWithError("fetch_data");
    }
    callbacks.target_to_host(mqd_host::process_handle(), &there, &here, sizeof here);
    benchmark::DoNotOptimize(here);
  }
}
BENCHMARK(fetch_a_word);

}  // namespace

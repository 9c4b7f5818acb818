// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The tool's side of a queue library's process: requests as they come from its socket, records as they stand in the
// shared memory. The first byte says which of the two the rest is.
#include <cstdint>
#include <cstdlib>

#include "fake_target.hpp"
#include "framing/frames.hpp"
#include "host/answer_server.hpp"
#include "host/report_record_reader.hpp"

using namespace mpiacq;
using namespace mpiacq::base;
using namespace mpiacq::mqd_host;

namespace {

class one_type final : public type_source {
 public:
  result<std::optional<structure_layout>> type_named(std::string_view name, source_language /*language*/) override {
    if (name.empty()) return std::nullopt;
    return structure_layout{std::string(name),    8,  {{"field", UINT64_MAX, 8, false, false}},
                            layout_source::fixed, "", ""};
  }
};

class no_names final : public process_answers {
 public:
  const target_abi& abi() const override { return test::lp64_little; }
  result<std::optional<std::uint64_t>> find_function(std::string_view name, source_language /*language*/) override {
    return name.size();
  }
  result<std::optional<std::uint64_t>> find_symbol(std::string_view /*name*/) override { return std::nullopt; }
  result<std::optional<type_number>> find_type(std::string_view /*name*/, source_language /*language*/) override {
    return std::nullopt;
  }
  result<std::int64_t> field_offset(type_number /*type*/, std::string_view /*field*/) override { return -1; }
  result<std::uint64_t> type_size(type_number /*type*/) override { return 0; }
  result<bool> fetch(std::uint64_t /*address*/, std::span<std::byte> /*into*/) override { return false; }
};

void serve(std::span<const std::byte> stream) {
  static shared_memory area = std::move(shared_memory::create()).value();
  test::fake_memory memory;
  memory.map(target_address{0x10000}, std::vector<std::byte>(3 * read_page_size));
  test::fake_symbols symbols;
  one_type types;
  no_names names;
  target process{memory, nullptr, test::lp64_little, symbols};
  const queue_subject subject{process, types, 0, ""};
  const queue_limits limits;
  answer_server server(subject, names, limits);
  frame_splitter frames(longest_request);
  while (!stream.empty() && !frames.broken()) {
    const auto some = stream.first(std::min<std::size_t>(stream.size(), 13));
    std::copy(some.begin(), some.end(), frames.room(some.size()).begin());
    frames.came(some.size());
    stream = stream.subspan(some.size());
    while (const auto frame = frames.next()) {
      const auto what = decode<request>(*frame);
      if (!what) return;
      if (encode(*decode<request>(encode(*what))) != encode(*what)) std::abort();
      if (const auto* name = std::get_if<look_up_request>(&*what)) static_cast<void>(server.answer(*name));
      if (const auto* type = std::get_if<type_request>(&*what)) static_cast<void>(server.answer(*type));
      if (const auto* pages = std::get_if<memory_request>(&*what)) static_cast<void>(server.answer(*pages, *area));
      if (const auto* end = std::get_if<end_message>(&*what)) static_cast<void>(record_reader::judged(end->outcome));
    }
  }
}

/// Whatever is passed on can be used by whoever believes its types.
void check(const queue_report& report, const queue_limits& limits) {
  if (report.communicators.size() > limits.communicators) std::abort();
  std::uint64_t operations = 0;
  for (const queue_communicator& c : report.communicators) {
    if (c.group && c.group->size() > limits.group_size) std::abort();
    for (const std::int64_t rank : c.group.value_or(std::vector<std::int64_t>{})) {
      if (rank < -1 || rank > std::int64_t{UINT32_MAX}) std::abort();
    }
    for (const queue_listing& queue : c.queues) {
      if (name(queue.known).empty()) std::abort();
      operations += queue.operations.size();
      for (const queue_operation& op : queue.operations) {
        if (name(op.status).empty() || op.extra.size() > 5) std::abort();
      }
    }
  }
  if (operations > limits.operations) std::abort();
  for (const error& problem : report.problems) {
    if (name(problem.code).empty()) std::abort();
  }
}

void read_records(std::span<const std::byte> bytes) {
  queue_limits limits;
  limits.operations = 100;
  limits.communicators = 20;
  limits.group_size = 3000;
  report_builder builder("/lib.so");
  record_reader reader(builder, limits);
  auto outcome = reader.take(bytes);
  reader.finish();
  if (const auto report = builder.finish(std::move(outcome))) check(*report, limits);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span bytes{reinterpret_cast<const std::byte*>(data) + 1, size - 1};
  if (data[0] == 's') serve(bytes);
  if (data[0] == 'r') read_records(bytes);
  return 0;
}

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a queue library leaves in the memory that it was given to fill, whatever that is, becomes values that hold what
// message_queues.hpp promises. The first byte says which structure the rest is.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "library/mqs_abi.hpp"
#include "library/mqs_decoding.hpp"
#include "library/printable_text.hpp"

using namespace mpiacq;
using namespace mpiacq::mqd_host;

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

filled_area area_of(std::size_t declared, const std::uint8_t* data, std::size_t size) {
  filled_area area(declared);
  std::memcpy(area.data(), data, std::min(size, declared + abi::longer_operation_by));
  return area;
}

void check_peer(const peer& p) {
  must(!p.any || (!p.local && !p.global));
  must(!p.local || *p.local >= 0);
}

void check_operation(const filled_area& area, queue_class which) {
  queue_communicator of;
  of.group = {3, -1, 7};
  const auto op = decode_operation(area, which, is_longer_operation(area, which), of);
  if (!op) return;
  check_peer(op->desired);
  must(which == queue_class::receives || !op->desired.any);
  must(op->length >= 0 && op->extra.size() <= abi::extra_lines);
  must(which != queue_class::sends || op->actual);
  if (op->actual) check_peer(op->actual->from_or_to);
  for (const std::string& line : op->extra) must(line.size() <= abi::extra_line_bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t kind = data[0];
  ++data;
  --size;
  if (kind < all_queue_classes.size()) {
    check_operation(area_of(sizeof(abi::operation), data, size), static_cast<queue_class>(kind));
  } else if (kind == 3) {
    const auto c = decode_communicator(area_of(sizeof(abi::communicator), data, size));
    must(!c || (c->size >= 0 && c->name.size() <= sizeof(abi::communicator::name)));
  } else if (kind == 4) {
    for (const std::int64_t rank : decode_group(area_of(size, data, size), size / sizeof(int))) must(rank >= -1);
  } else if (kind == 5) {
    const auto p = decode_new_process(area_of(sizeof(abi::process_location), data, size));
    must(!p || (p->pid.value() > 0 && p->host.size() <= abi::host_name_bytes));
  } else {
    const std::string text = printable({reinterpret_cast<const char*>(data), size}, 64);
    must(text.size() <= 64 && printable(text, 64) == text);
  }
  return 0;
}

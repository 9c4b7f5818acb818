// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "separate/shared_report.hpp"

#include <algorithm>
#include <cstring>

#include "separate/queue_messages.hpp"

namespace mpiacq::mqd_host {

namespace {

void shorten(std::string& text) {
  if (text.size() > longest_text) text.resize(longest_text);
}

}  // namespace

void shared_report::calling(entry_point entry) {
  // Relaxed order is enough: the tool's clock only needs to see a change of `calls` some time later.
  area_.entry.store(static_cast<std::uint8_t>(entry), std::memory_order_relaxed);
  area_.calls.fetch_add(1, std::memory_order_relaxed);
}

void shared_report::communicator(queue_communicator&& c) {
  communicator_record head{c.id, std::move(c.name), c.local_rank, c.size, std::nullopt};
  if (c.group) head.group_size = c.group->size();
  put(std::move(head));
  if (!c.group) return;
  for (std::span<const std::int64_t> rest = c.group->numbers(); !rest.empty();) {
    const auto some = rest.first(std::min(rest.size(), group_ranks_a_record));
    put(group_record{{some.begin(), some.end()}});
    rest = rest.subspan(some.size());
  }
}

void shared_report::note(std::string&& text) {
  shorten(text);
  put(note_record{std::move(text)});
}

void shared_report::problem(error&& e) {
  shorten(e.message);
  shorten(e.path);
  put(std::move(e));
}

void shared_report::put(record&& what) {
  const auto bytes = encode(what);
  const auto length = static_cast<std::uint32_t>(bytes.size());
  if (length > longest_record) return;  // cannot happen, because texts are bounded
  std::uint32_t said = area_.said.load(std::memory_order_relaxed);
  if (said > shared_area::report_bytes - sizeof length - length) {
    if (!tool_.ask(report_request{})) return;
    said = 0;
  }
  std::memcpy(area_.report.data() + said, &length, sizeof length);
  std::memcpy(area_.report.data() + said + sizeof length, bytes.data(), length);
  area_.said.store(said + static_cast<std::uint32_t>(sizeof length) + length, std::memory_order_release);
}

}  // namespace mpiacq::mqd_host

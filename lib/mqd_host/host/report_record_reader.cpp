// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "host/report_record_reader.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "library/printable_text.hpp"
#include "separate/queue_messages.hpp"

namespace mpiacq::mqd_host {

namespace {

// A limit for notes, problems, missing types and new processes together: far more than a real library reports.
constexpr std::uint64_t most_others = 100'000;
constexpr std::size_t longest_name = 63;  // mqs_communicator and extra_text: 64 with the terminator
constexpr std::size_t most_lines = 5;

tl::unexpected<error> no_record() {
  return fail(error_code::bad_format, "the process of the queue library sent an invalid record");
}

tl::unexpected<error> too_many(std::string_view what, std::uint64_t most) {
  return fail(error_code::limit, fmt::format("the process of the queue library reported more than {} {}", most, what));
}

template <class Enum>
bool within(Enum value, Enum last) {
  return value <= last;
}

void make_printable(std::string& text, std::size_t longest = longest_text) {
  text = printable(text, longest);
}

}  // namespace

result<void> record_reader::take(std::span<const std::byte> bytes) {
  std::uint32_t length = 0;
  while (bytes.size() >= sizeof length) {
    std::memcpy(&length, bytes.data(), sizeof length);
    bytes = bytes.subspan(sizeof length);
    if (length > bytes.size()) return {};
    if (auto taken = take_one(bytes.first(length)); !taken) return taken;
    bytes = bytes.subspan(length);
  }
  return {};
}

result<void> record_reader::take_one(std::span<const std::byte> bytes) {
  bytes_ += bytes.size();
  // Every record describes data that the library read from the process.
  if (bytes_ > limits_.fetched_bytes) return too_many("bytes", limits_.fetched_bytes);
  auto what = decode<record>(bytes);
  if (!what) return no_record();
  if (auto counted = count(*what); !counted) return counted;
  if (!std::holds_alternative<group_record>(*what)) hand_on_communicator();
  if (auto taken = std::visit([this](auto& one) { return put(std::move(one)); }, *what); !taken) return taken;
  if (auto full = into_.full()) return fail(std::move(*full));
  return {};
}

result<void> record_reader::count(const record& what) {
  if (std::holds_alternative<communicator_record>(what)) {
    if (++communicators_ > limits_.communicators) return too_many("communicators", limits_.communicators);
  } else if (std::holds_alternative<queue_operation>(what)) {
    if (++operations_ > limits_.operations) return too_many("operations", limits_.operations);
  } else if (!std::holds_alternative<group_record>(what) && !std::holds_alternative<queue_begins_record>(what) &&
             !std::holds_alternative<queue_ends_record>(what)) {
    if (++others_ > most_others) return too_many("notes and problems", most_others);
  }
  return {};
}

void record_reader::hand_on_communicator() {
  if (!next_) return;
  // A partial group would correct the ranks of peers wrongly.
  if (group_ && group_left_ == 0) next_->group = std::move(*group_);
  group_.reset();
  into_.communicator(std::move(*next_));
  next_.reset();
  group_left_ = 0;
}

result<void> record_reader::put(library_facts&& facts) {
  if (!within(facts.unit, length_unit::unknown)) return no_record();
  make_printable(facts.version);
  into_.library(std::move(facts));
  return {};
}

result<void> record_reader::put(has_queues_record /*what*/) {
  into_.has_queues();
  return {};
}

result<void> record_reader::put(communicator_record&& c) {
  const std::uint64_t most = std::min<std::uint64_t>(limits_.group_size, most_report_bytes / sizeof(std::int64_t));
  if (c.group_size.value_or(0) > most) return too_many("ranks of a group", most);
  make_printable(c.name, longest_name);
  next_.emplace();
  next_->id = c.id;
  next_->name = std::move(c.name);
  next_->local_rank = c.local_rank;
  next_->size = c.size;
  if (c.group_size) group_.emplace();
  group_left_ = c.group_size.value_or(0);
  open_.reset();
  return {};
}

result<void> record_reader::put(group_record&& part) {
  if (!next_ || part.ranks.size() > group_left_) return no_record();
  group_left_ -= part.ranks.size();
  for (const std::int64_t rank : part.ranks) {
    group_->push_back(rank >= 0 && rank <= std::int64_t{UINT32_MAX} ? rank : -1);
  }
  return {};
}

result<void> record_reader::put(queue_begins_record what) {
  if (communicators_ == 0 || !within(what.which, queue_class::unexpected)) return no_record();
  open_ = what.which;
  into_.queue_begins(what.which);
  return {};
}

result<void> record_reader::put(queue_operation&& op) {
  if (!open_ || !within(op.status, operation_status::complete)) return no_record();
  if (op.extra.size() > most_lines) op.extra.resize(most_lines);
  for (std::string& line : op.extra) make_printable(line, longest_name);
  into_.operation(std::move(op));
  return {};
}

result<void> record_reader::put(queue_ends_record what) {
  if (open_ != what.which || !within(what.known, queue_knowledge::failed)) return no_record();
  open_.reset();
  into_.queue_ends(what.which, what.known);
  return {};
}

result<void> record_reader::put(spawn_breakpoint_record&& what) {
  make_printable(what.function);
  into_.spawn_breakpoint(std::move(what.function));
  return {};
}

result<void> record_reader::put(new_process&& p) {
  make_printable(p.executable);
  make_printable(p.host);
  into_.process(std::move(p));
  return {};
}

result<void> record_reader::put(missing_type&& m) {
  make_printable(m.type);
  make_printable(m.field);
  into_.missing(std::move(m));
  return {};
}

result<void> record_reader::put(note_record&& what) {
  make_printable(what.text);
  into_.note(std::move(what.text));
  return {};
}

result<void> record_reader::put(error&& e) {
  if (!within(e.code, error_code::system)) return no_record();
  into_.problem(std::move(judged(fail(std::move(e))).error()));
  return {};
}

result<void> record_reader::judged(result<void> outcome) {
  if (outcome) return outcome;
  error& e = outcome.error();
  if (!within(e.code, error_code::system)) return no_record();
  make_printable(e.message);
  make_printable(e.path);
  return outcome;
}

}  // namespace mpiacq::mqd_host

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "library/mqs_decoding.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "library/mqs_abi.hpp"
#include "library/printable_text.hpp"

namespace mpiacq::mqd_host {

namespace {

constexpr std::size_t longest_process_name = 4096;

tl::unexpected<error> nonsense(std::string sentence) {
  return fail(error_code::bad_format, std::move(sentence));
}

/// Ranks and tags are ints of the target. Libraries pass them in a word, and some lose the sign.
std::optional<std::int64_t> int_of_target(std::optional<abi::word> value) {
  using limits32 = std::numeric_limits<std::int32_t>;
  if (!value || *value < limits32::min() || *value > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  if (*value > limits32::max()) return static_cast<std::int32_t>(static_cast<std::uint32_t>(*value));
  return *value;
}

/// The rank in the group of the process with this number in the job.
std::optional<std::int64_t> rank_in(const group_members& group, std::int64_t global) {
  const auto at = std::find(group.begin(), group.end(), global);
  if (at == group.end()) return std::nullopt;
  return at - group.begin();
}

/// Both numbers of a peer. The group overrides the library's global rank: for sends, Open MPI's library gives the local
/// rank there, and MPICH's always gives -1. In an intercommunicator the peer is in the other group, so a rank beyond
/// the known group has no number in the job.
peer make_peer(std::optional<std::int64_t> local, std::optional<std::int64_t> global, const queue_communicator& of) {
  peer p;
  const bool is_number = global && *global >= 0 && *global <= std::numeric_limits<std::int32_t>::max();
  if (is_number) p.global = static_cast<std::uint32_t>(*global);
  if (local && *local >= 0) p.local = local;
  if (!of.group) return p;
  if (!p.local && p.global) p.local = rank_in(*of.group, *p.global);
  if (!p.local) return p;
  p.global.reset();
  const auto rank = static_cast<std::size_t>(*p.local);
  if (rank < of.group->size() && (*of.group)[rank] >= 0) p.global = static_cast<std::uint32_t>((*of.group)[rank]);
  return p;
}

/// Whether a library's ranks mean MPI_ANY_SOURCE: -1 as the local rank or, if that was left untouched, as the global
/// one.
bool is_any_source(std::optional<std::int64_t> local, std::optional<std::int64_t> global) {
  if (local) return *local == -1 && (!global || *global < 0);
  return global && *global == -1;
}

std::vector<std::string> extra_lines(const filled_area& from, std::size_t offset) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < abi::extra_lines; ++i) {
    const auto line = from.text(offset + i * abi::extra_line_bytes, abi::extra_line_bytes);
    if (line.empty()) break;  // lines after an empty one were usually never written
    lines.push_back(printable(line, abi::extra_line_bytes));
  }
  return lines;
}

}  // namespace

result<queue_communicator> decode_communicator(const filled_area& from) {
  const auto id = from.number<abi::address>(offsetof(abi::communicator, unique_id));
  const auto rank = from.number<abi::word>(offsetof(abi::communicator, local_rank));
  const auto size = from.number<abi::word>(offsetof(abi::communicator, size));
  if (!id || !rank || !size) return nonsense("the library returned ok, but does not describe the communicator");
  const auto sound_rank = int_of_target(rank);
  const auto sound_size = int_of_target(size);
  if (!sound_rank || !sound_size || *sound_size < 0) {
    return nonsense(fmt::format("the library describes a communicator with rank {} of {}", *rank, *size));
  }
  queue_communicator c;
  c.id = *id;
  c.local_rank = *sound_rank;
  c.size = *sound_size;
  // Libraries copy 64 bytes: a name of that length has no terminator.
  c.name = printable(from.text(offsetof(abi::communicator, name), sizeof(abi::communicator::name)),
                     sizeof(abi::communicator::name));
  return c;
}

std::vector<std::int64_t> decode_group(const filled_area& from, std::size_t size) {
  std::vector<std::int64_t> group(size, -1);
  for (std::size_t i = 0; i < size; ++i) {
    group[i] = std::max(from.number<int>(i * sizeof(int)).value_or(-1), -1);
  }
  return group;
}

// A library with the extra member clears or copies its whole structure, or puts `actual_length` at the place of the
// first line of text. Those eight bytes are then a number that no text equals, because its upper bytes are zero.
bool is_longer_operation(const filled_area& from, queue_class which) {
  constexpr std::size_t end = sizeof(abi::operation);
  constexpr std::size_t text = offsetof(abi::operation, extra_text);
  constexpr std::size_t number_bytes = abi::longer_operation_by;
  if (!from.is_untouched(end, abi::longer_operation_by)) return true;
  if (!from.is_untouched(end - 1, 1)) return false;  // the known structure must be written up to its end
  if (which != queue_class::sends && from.number<int>(offsetof(abi::operation, status)).value_or(0) == 0) return false;
  if (!from.is_all_touched(text, number_bytes)) return false;
  const auto number = from.number<std::uint64_t>(text).value_or(0);
  // The first bytes of a line of text that is padded with zeros look the same.
  const bool padded = from.text(text + number_bytes, 1).empty() && from.is_all_touched(text, abi::extra_line_bytes) &&
                      !from.is_all_touched(text + abi::extra_line_bytes, number_bytes);
  return number >> 48U == 0 && !padded;
}

result<queue_operation> decode_operation(const filled_area& from, queue_class which, bool longer,
                                         const queue_communicator& of) {
  const std::size_t shift = longer ? abi::longer_operation_by : 0;
  const auto word = [&](std::size_t offset) { return from.number<abi::word>(offset); };
  const auto status = from.number<int>(offsetof(abi::operation, status));
  const auto local = word(offsetof(abi::operation, desired_local_rank));
  const auto tag = word(offsetof(abi::operation, desired_tag));
  const auto length = word(offsetof(abi::operation, desired_length));
  if (!status || !local) return nonsense("the library returned ok, but does not describe the operation");
  if (*status < 0 || *status > static_cast<int>(operation_status::complete)) {
    return nonsense(fmt::format("the library describes an operation with status {}", *status));
  }
  const bool is_receive = which == queue_class::receives;
  const bool any_tag = is_receive && from.number<int>(offsetof(abi::operation, tag_wild)).value_or(0) != 0;
  const auto sound_local = int_of_target(local);
  const auto global = int_of_target(word(offsetof(abi::operation, desired_global_rank)));
  // Some libraries give a length of -1 if they do not know it.
  if (!sound_local || (!any_tag && tag && !int_of_target(tag)) || length.value_or(0) < -1) {
    return nonsense(fmt::format("the library describes an operation with rank {}, tag {} and length {}", *local,
                                tag.value_or(0), length.value_or(0)));
  }
  queue_operation op;
  op.status = static_cast<operation_status>(*status);
  op.desired = make_peer(sound_local, global, of);
  op.desired.any = is_receive && is_any_source(sound_local, global);
  if (!any_tag) op.tag = int_of_target(tag);
  op.length = std::max<std::int64_t>(length.value_or(0), 0);
  op.system_buffer = from.number<int>(offsetof(abi::operation, system_buffer)).value_or(0) != 0;
  op.buffer = target_address{from.number<abi::address>(offsetof(abi::operation, buffer)).value_or(0)};

  // In a pending receive, these members have their values from before.
  if (which == queue_class::sends || op.status != operation_status::pending) {
    queue_operation::message m;
    m.from_or_to = make_peer(int_of_target(word(offsetof(abi::operation, actual_local_rank) + shift)),
                             int_of_target(word(offsetof(abi::operation, actual_global_rank) + shift)), of);
    m.tag = int_of_target(word(offsetof(abi::operation, actual_tag) + shift)).value_or(0);
    m.length = std::max<std::int64_t>(word(offsetof(abi::operation, actual_length) + shift).value_or(0), 0);
    op.actual = m;
  }
  op.extra = extra_lines(from, offsetof(abi::operation, extra_text) + shift);
  return op;
}

result<new_process> decode_new_process(const filled_area& from) {
  const auto pid = from.number<long>(offsetof(abi::process_location, pid));
  if (!pid || *pid <= 0) return nonsense("the library names a new process without a pid");
  new_process p;
  p.pid = process_id{*pid};
  p.executable =
      printable(from.text(offsetof(abi::process_location, image_name), abi::image_name_bytes), longest_process_name);
  p.host = printable(from.text(offsetof(abi::process_location, host_name), abi::host_name_bytes), abi::host_name_bytes);
  return p;
}

}  // namespace mpiacq::mqd_host

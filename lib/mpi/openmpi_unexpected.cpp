// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "openmpi_unexpected.hpp"

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "mpiacq/base/memory.hpp"
#include "mpiacq/queues/queue_memory.hpp"
#include "objects/ob1_types.hpp"
#include "objects/openmpi_groups.hpp"
#include "openmpi_communicators.hpp"

namespace mpiacq {

namespace {

// Kinds of headers (pml_ob1_hdr.h).
constexpr std::uint64_t sent_at_once = 0x41;         ///< MCA_PML_OB1_HDR_TYPE_MATCH
constexpr std::uint64_t after_an_answer = 0x42;      ///< MCA_PML_OB1_HDR_TYPE_RNDV
constexpr std::uint64_t fetched_by_receiver = 0x43;  ///< MCA_PML_OB1_HDR_TYPE_RGET

/// The variables that describe the classes of the PML's objects.
constexpr std::array<std::string_view, 3> class_names = {"mca_pml_ob1_comm_t_class", "mca_pml_ob1_comm_proc_t_class",
                                                         "mca_pml_ob1_recv_frag_t_class"};
struct ob1_classes {
  target_address communicator, sender, message;
};

/// Messages with consecutive numbers of 16 bits wait for an earlier one in a ring.
constexpr std::size_t most_in_ring = 1U << 16U;

constexpr std::string_view unreadable = "the memory of the rank cannot be read there";
constexpr std::string_view no_object = "what is in the place of an object of Open MPI is none";
constexpr std::string_view no_end = "a list of messages has no end";
constexpr std::string_view no_message = "what is in the place of a message is none";
constexpr std::string_view other_size = "it has another size for Open MPI's PML than for its queue library";
constexpr std::string_view too_many = "there are too many of them";

class unexpected_reader {
 public:
  unexpected_reader(target& process, const ob1_types& where, const ob1_classes& classes, std::uint64_t room)
      : process_(process), where_(where), classes_(classes), room_(room) {}

  /// Whether the classes have the sizes of the types.
  [[nodiscard]] bool fits() {
    return integer(classes_.communicator, where_.class_size) == where_.communicator_size &&
           integer(classes_.sender, where_.class_size) == where_.sender_size &&
           integer(classes_.message, where_.class_size) == where_.message_size;
  }

  /// MPI_COMM_NULL is in Open MPI's list, and nobody sends on it.
  static void list_none(queue_communicator& told) {
    queue_listing& into = told.of(queue_class::unexpected);
    if (into.operations.empty()) into = {queue_knowledge::complete, {}, queue_origin::memory};
  }

  /// Lists the messages for one communicator.
  void list(target_address communicator, queue_communicator& told) {
    queue_listing& into = told.of(queue_class::unexpected);
    if (into.origin == queue_origin::memory || !into.operations.empty()) return;
    into.origin = queue_origin::memory;
    const std::string_view why = read(communicator, told, into);
    into.known = queue_knowledge::complete;
    if (why.empty()) return;
    into.known = into.operations.empty() ? queue_knowledge::failed : queue_knowledge::cut_short;
    if (failures_++ == 0) failure_ = fmt::format("{}: {}", name_of(told), why);
  }

  /// One sentence for all communicators.
  void tell_failures(queue_report& report) const {
    if (failures_ == 0) return;
    std::string text = "not all unexpected messages could be read from the memory of the rank: " + failure_;
    if (failures_ > 1) text += fmt::format(" (and {} more communicators)", failures_ - 1);
    report.problems.emplace_back(error_code::bad_format, std::move(text));
  }

 private:
  static std::string name_of(const queue_communicator& one) {
    return one.name.empty() ? fmt::format("communicator {:#x}", one.id) : one.name;
  }

  [[nodiscard]] std::optional<std::uint64_t> integer(target_address base, const field& f) {
    const auto value = read_unsigned(process_.memory, process_.abi, base + f.offset, static_cast<std::size_t>(f.size));
    return value ? std::optional{*value} : std::nullopt;
  }
  [[nodiscard]] std::optional<std::int64_t> signed_integer(target_address base, const field& f) {
    const auto value = read_signed(process_.memory, process_.abi, base + f.offset, static_cast<std::size_t>(f.size));
    return value ? std::optional{*value} : std::nullopt;
  }
  [[nodiscard]] bool is_a(target_address object, target_address its_class) {
    return object.value() != 0 && integer(object, where_.object_class) == its_class.value();
  }

  /// These functions return why the list is not whole; nothing if it is.
  [[nodiscard]] std::string_view read(target_address communicator, const queue_communicator& told,
                                      queue_listing& into) {
    const auto known = integer(communicator, where_.of_communicator);
    if (!known) return unreadable;
    const target_address all{*known};
    if (!is_a(all, classes_.communicator)) return no_object;
    const auto count = integer(all, where_.sender_count);
    const auto senders = integer(all, where_.senders);
    if (!count || !senders) return unreadable;
    if (const auto expected = senders_of(told); expected && *expected != *count) return other_size;
    if (*count > senders_left_) return too_many;
    senders_left_ -= *count;
    // Open MPI makes the array when it needs the first sender.
    if (*senders == 0 || *count == 0) return {};
    const auto addresses = read_words(process_.memory, process_.abi, target_address{*senders}, *count);
    if (addresses.empty()) return unreadable;
    for (std::uint64_t rank = 0; rank < *count; ++rank) {
      if (addresses[rank] == 0) continue;  // the rank has sent nothing
      const std::string_view why = read_sender(target_address{addresses[rank]}, rank, told, into);
      if (!why.empty()) return why;
    }
    return {};
  }

  [[nodiscard]] static std::optional<std::uint64_t> senders_of(const queue_communicator& told) {
    if (!told.is_inter) return std::nullopt;
    if (!*told.is_inter) return static_cast<std::uint64_t>(told.size);
    return told.remote_group ? std::optional<std::uint64_t>{told.remote_group->size()} : std::nullopt;
  }

  [[nodiscard]] std::string_view read_sender(target_address sender, std::uint64_t rank, const queue_communicator& told,
                                             queue_listing& into) {
    if (!is_a(sender, classes_.sender)) return no_object;
    const target_address list = sender + where_.unexpected.offset;
    const target_address end = list + where_.list_begin.offset;
    const auto length = integer(list, where_.list_length);
    auto next = integer(end, where_.item_next);
    if (!length || !next) return unreadable;
    // The rank may have been stopped while it appended a message, before it counted it.
    for (std::uint64_t passed = 0; *next != end.value(); ++passed) {
      if (passed > *length) return no_end;
      const target_address message{*next};
      const std::string_view why = read_message(message, rank, told, into);
      if (!why.empty()) return why;
      next = integer(message, where_.item_next);
      if (!next) return unreadable;
    }
    return read_out_of_order(sender, rank, told, into);
  }

  /// The messages that have overtaken an earlier one of the same sender: a ring, in which each message may have a
  /// further ring of those that follow directly.
  [[nodiscard]] std::string_view read_out_of_order(target_address sender, std::uint64_t rank,
                                                   const queue_communicator& told, queue_listing& into) {
    if (!where_.out_of_order || !where_.range) return {};
    const auto first = integer(sender, *where_.out_of_order);
    if (!first) return unreadable;
    return read_ring(*first, rank, told, into, true);
  }
  [[nodiscard]] std::string_view read_ring(std::uint64_t first, std::uint64_t rank, const queue_communicator& told,
                                           queue_listing& into, bool has_ranges) {
    std::uint64_t at = first;
    for (std::size_t passed = 0; at != 0; ++passed) {
      if (passed == most_in_ring) return no_end;
      const target_address message{at};
      std::string_view why = read_message(message, rank, told, into);
      if (!why.empty()) return why;
      into.operations.back().extra.emplace_back("An earlier message of the same sender has not arrived yet");
      const auto range = has_ranges ? integer(message, *where_.range) : std::optional<std::uint64_t>{0};
      const auto next = integer(message, where_.item_next);
      if (!range || !next) return unreadable;
      why = read_ring(*range, rank, told, into, false);
      if (!why.empty()) return why;
      if (*next == first) return {};
      at = *next;
    }
    return {};
  }

  [[nodiscard]] std::string_view read_message(target_address message, std::uint64_t rank,
                                              const queue_communicator& told, queue_listing& into) {
    if (messages_ == most_unexpected_messages) return too_many;
    if (!is_a(message, classes_.message)) return no_object;
    const target_address header = message + where_.header.offset;
    const auto type = integer(header, where_.header_type);
    const auto source = signed_integer(header, where_.source);
    const auto tag = signed_integer(header, where_.tag);
    if (!type || !source || !tag) return unreadable;
    // Every list has one sender.
    if (*source < 0 || static_cast<std::uint64_t>(*source) != rank) return no_message;
    queue_operation made;
    made.desired = sender_named(told, rank);
    made.tag = *tag;
    made.system_buffer = true;
    if (*type == sent_at_once) {
      const std::string_view why = read_data(message, made);
      if (!why.empty()) return why;
    } else if (*type == after_an_answer || *type == fetched_by_receiver) {
      const auto length = integer(header, where_.whole_length);
      if (!length) return unreadable;
      if (*length > INT64_MAX) return no_message;
      made.length = static_cast<std::int64_t>(*length);
    } else {
      return no_message;
    }
    const std::uint64_t bytes = bytes_held(made);
    if (bytes > room_) return too_many;
    room_ -= bytes;
    ++messages_;
    into.operations.push_back(std::move(made));
    return {};
  }

  static peer sender_named(const queue_communicator& told, std::uint64_t rank) {
    peer who;
    who.local = static_cast<std::int64_t>(rank);
    const auto& group = told.is_inter.value_or(false) ? told.remote_group : told.group;
    if (group && rank < group->size() && (*group)[rank] >= 0 && (*group)[rank] <= UINT32_MAX) {
      who.global = static_cast<std::uint32_t>((*group)[rank]);
    }
    return who;
  }

  /// The place and the length of data that has come with its header.
  [[nodiscard]] std::string_view read_data(target_address message, queue_operation& made) {
    const auto count = integer(message, where_.segment_count);
    if (!count) return unreadable;
    if (*count == 0 || *count > where_.segments.size / where_.segment_size) return no_message;
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < *count; ++i) {
      const target_address segment = message + where_.segments.offset + i * where_.segment_size;
      const auto address = integer(segment, where_.segment_address);
      const auto length = integer(segment, where_.segment_bytes);
      if (!address || !length) return unreadable;
      if (i == 0) made.buffer = target_address{*address} + where_.header_bytes;
      if (*length > INT64_MAX - bytes) return no_message;
      bytes += *length;
    }
    if (bytes < where_.header_bytes) return no_message;
    made.length = static_cast<std::int64_t>(bytes - where_.header_bytes);
    return {};
  }

  target& process_;
  const ob1_types& where_;
  ob1_classes classes_;
  std::uint64_t room_;  ///< the bytes by which the report may still grow
  std::size_t messages_ = 0;
  std::uint64_t senders_left_ = most_senders;
  std::size_t failures_ = 0;  ///< communicators whose messages are not all known
  std::string failure_;       ///< of the first one
};

}  // namespace

std::shared_ptr<const module> module_of_ob1(symbol_source& symbols) {
  const auto found = symbols.look_up({class_names.data(), 1}, {true, nullptr});
  return found && found->front() ? found->front()->home : nullptr;
}

void look_at_openmpi_unexpected(target& process, type_source& types, type_source& of_pml, queue_report& report) {
  if (report.communicators.empty()) return;
  const auto where = find_ob1_types(of_pml);
  const auto found = process.symbols.look_up(class_names, {true, nullptr});
  if (!where || !found) return;
  for (const auto& each : *found) {
    if (!each) return;
  }
  const ob1_classes classes{(*found)[0]->address(), (*found)[1]->address(), (*found)[2]->address()};
  const std::uint64_t held = bytes_held(report);
  unexpected_reader reader(process, *where, classes, held < most_report_bytes ? most_report_bytes - held : 0);
  if (!reader.fits()) return;
  for (queue_communicator& one : report.communicators) {
    if (one.size == 0) unexpected_reader::list_none(one);
  }
  for (const auto& [object, told] : find_described_communicators(process, types, report)) reader.list(object, *told);
  reader.tell_failures(report);
}

}  // namespace mpiacq

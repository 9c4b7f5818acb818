// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The messages between the tool and the process of a queue library (lib/mqd_host/separate/mqd_host_main.cpp). The tool
// sends the first message. From then on it sends one answer to each request, of the type that the request names, until
// the end. The library's report goes the other way as records (shared_area::report).
//
// Each side takes the other for hostile: the tool, because foreign code runs in the process, and the process, because
// trust would gain nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "framing/wire.hpp"
#include "helper/helper_begin.hpp"
#include "library/library_session.hpp"
#include "library/report_sink.hpp"
#include "mpiacq/base/abi.hpp"
#include "mpiacq/process/type_source.hpp"
#include "mpiacq/queues/message_queues.hpp"
#include "reports/queue_members.hpp"

namespace mpiacq::mqd_host {

using base::decode;
using base::encode;

/// The descriptors that the process inherits beside its socket.
inline constexpr int memory_descriptor = base::helper_socket + 1;
inline constexpr int library_descriptor = base::helper_socket + 2;
inline constexpr int first_free_descriptor = base::helper_socket + 3;

/// The largest frame in bytes, in both directions: an answer may be a type with all its fields.
inline constexpr std::uint32_t longest_answer = 16U << 20U;
inline constexpr std::uint32_t longest_request = 1U << 16U;
/// The largest record in bytes; the shared area has room for several.
inline constexpr std::uint32_t longest_record = 1U << 15U;
/// The longest name of a symbol, type or field in bytes. C++ and Fortran compilers make no longer ones, but a library
/// may pass any text.
inline constexpr std::size_t longest_asked_name = 4096;
/// The longest text of a library in bytes.
inline constexpr std::size_t longest_text = 8192;
/// The ranks per record: those of a larger group come in several records.
inline constexpr std::size_t group_ranks_a_record = 2048;

/// The tool's first message. Both sides come from one build, so the protocol has no versions.
struct begin_message {
  std::string version;
  std::string library;  ///< its path for messages; it is loaded from library_descriptor
  target_abi abi;
  session_facts facts;
  queue_limits limits;
};

struct look_up_request {
  using answer = std::optional<std::uint64_t>;
  bool function = false;
  source_language language = source_language::c;
  std::string name;
};
struct type_field {
  std::string name;
  std::int64_t offset = 0;
};
struct type_facts {
  std::uint64_t size = 0;
  std::vector<type_field> fields;
};
struct type_request {
  using answer = std::optional<type_facts>;
  source_language language = source_language::c;
  std::string name;
};
/// The answer says how many bytes shared_area::window holds now: fewer than requested if the next byte cannot be read.
struct memory_request {
  using answer = std::uint32_t;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
};
/// shared_area::report is full. The tool empties it before it answers.
struct report_request {
  using answer = bool;
};
/// The last message, which has no answer.
struct end_message {
  result<void> outcome;
};
using request = std::variant<look_up_request, type_request, memory_request, report_request, end_message>;

struct has_queues_record {};
struct communicator_record {
  std::uint64_t id = 0;
  std::string name;
  std::int64_t local_rank = 0;
  std::int64_t size = 0;
  std::optional<std::uint64_t> group_size;  ///< the ranks follow in records of their own
};
struct group_record {
  std::vector<std::int64_t> ranks;
};
struct queue_begins_record {
  queue_class which = queue_class::sends;
};
struct queue_ends_record {
  queue_class which = queue_class::sends;
  queue_knowledge known = queue_knowledge::none;
};
struct spawn_breakpoint_record {
  std::string function;
};
struct note_record {
  std::string text;
};
using record = std::variant<library_facts, has_queues_record, communicator_record, group_record, queue_begins_record,
                            queue_operation, queue_ends_record, spawn_breakpoint_record, new_process, missing_type,
                            note_record, error>;

}  // namespace mpiacq::mqd_host

namespace mpiacq {

template <>
inline constexpr auto members<target_abi> =
    std::tuple{&target_abi::pointer_size, &target_abi::order,       &target_abi::short_size,
               &target_abi::int_size,     &target_abi::long_size,   &target_abi::long_long_size,
               &target_abi::bool_size,    &target_abi::size_t_size, &target_abi::elf_machine};
template <>
inline constexpr auto members<mqd_host::session_facts> =
    std::tuple{&mqd_host::session_facts::identity, &mqd_host::session_facts::image};
template <>
inline constexpr auto members<mqd_host::begin_message> =
    std::tuple{&mqd_host::begin_message::version, &mqd_host::begin_message::library, &mqd_host::begin_message::abi,
               &mqd_host::begin_message::facts, &mqd_host::begin_message::limits};
template <>
inline constexpr auto members<mqd_host::look_up_request> = std::tuple{
    &mqd_host::look_up_request::function, &mqd_host::look_up_request::language, &mqd_host::look_up_request::name};
template <>
inline constexpr auto members<mqd_host::type_field> =
    std::tuple{&mqd_host::type_field::name, &mqd_host::type_field::offset};
template <>
inline constexpr auto members<mqd_host::type_facts> =
    std::tuple{&mqd_host::type_facts::size, &mqd_host::type_facts::fields};
template <>
inline constexpr auto members<mqd_host::type_request> =
    std::tuple{&mqd_host::type_request::language, &mqd_host::type_request::name};
template <>
inline constexpr auto members<mqd_host::memory_request> =
    std::tuple{&mqd_host::memory_request::address, &mqd_host::memory_request::bytes};
template <>
inline constexpr auto members<mqd_host::report_request> = std::tuple{};
template <>
inline constexpr auto members<mqd_host::end_message> = std::tuple{&mqd_host::end_message::outcome};

template <>
inline constexpr auto members<mqd_host::library_facts> = std::tuple{
    &mqd_host::library_facts::version, &mqd_host::library_facts::compatibility, &mqd_host::library_facts::unit};
template <>
inline constexpr auto members<mqd_host::has_queues_record> = std::tuple{};
template <>
inline constexpr auto members<mqd_host::communicator_record> =
    std::tuple{&mqd_host::communicator_record::id, &mqd_host::communicator_record::name,
               &mqd_host::communicator_record::local_rank, &mqd_host::communicator_record::size,
               &mqd_host::communicator_record::group_size};
template <>
inline constexpr auto members<mqd_host::group_record> = std::tuple{&mqd_host::group_record::ranks};
template <>
inline constexpr auto members<mqd_host::queue_begins_record> = std::tuple{&mqd_host::queue_begins_record::which};
template <>
inline constexpr auto members<mqd_host::queue_ends_record> =
    std::tuple{&mqd_host::queue_ends_record::which, &mqd_host::queue_ends_record::known};
template <>
inline constexpr auto members<mqd_host::spawn_breakpoint_record> =
    std::tuple{&mqd_host::spawn_breakpoint_record::function};
template <>
inline constexpr auto members<mqd_host::note_record> = std::tuple{&mqd_host::note_record::text};

}  // namespace mpiacq

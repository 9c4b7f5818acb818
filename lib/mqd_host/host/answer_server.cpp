// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "host/answer_server.hpp"

#include <limits>

#include <fmt/format.h>

#include "errors/try.hpp"

namespace mpiacq::mqd_host {

namespace {

// A library asks for a few dozen names, each once.
constexpr std::uint64_t most_look_ups = 100'000;

tl::unexpected<error> senseless() {
  return fail(error_code::bad_format, "the process of the queue library sent an invalid request");
}

}  // namespace

result<std::vector<std::byte>> answer_server::answer(const look_up_request& what) {
  if (what.name.size() > longest_asked_name || what.language > source_language::fortran) return senseless();
  if (++look_ups_ > most_look_ups) return fail(error_code::limit, "the queue library looked up too many names");
  const auto found =
      TRY(what.function ? names_.find_function(what.name, what.language) : names_.find_symbol(what.name));
  return encode(found);
}

result<std::vector<std::byte>> answer_server::answer(const type_request& what) {
  if (what.name.size() > longest_asked_name || what.language > source_language::fortran) return senseless();
  if (++look_ups_ > most_look_ups) return fail(error_code::limit, "the queue library looked up too many names");
  auto found = TRY(subject_.types.type_named(what.name, what.language));
  type_request::answer type;
  if (found) {
    type.emplace().size = found->size;
    for (structure_member& member : found->members) {
      if (member.offset > std::numeric_limits<std::int64_t>::max()) continue;
      type->fields.push_back({std::move(member.name), static_cast<std::int64_t>(member.offset)});
    }
  }
  auto bytes = encode(type);
  if (bytes.size() > longest_answer) bytes = encode(type_request::answer{});
  return bytes;
}

result<std::vector<std::byte>> answer_server::answer(const memory_request& what, shared_area& area) {
  if (what.bytes == 0 || what.bytes > area.window.size() || what.bytes - 1 > UINT64_MAX - what.address)
    return senseless();
  memory_range range{target_address{what.address}, std::span{area.window}.first(what.bytes)};
  TRY(subject_.process.memory.read_ranges({&range, 1}));
  fetched_ += range.got;
  if (fetched_ > limits_.fetched_bytes) {
    return fail(error_code::limit,
                fmt::format("the queue library read more than {} bytes of the process", limits_.fetched_bytes));
  }
  return encode(static_cast<memory_request::answer>(range.got));
}

}  // namespace mpiacq::mqd_host

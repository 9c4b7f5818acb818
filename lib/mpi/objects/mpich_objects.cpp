// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "objects/mpich_objects.hpp"

#include <initializer_list>

namespace mpiacq {

namespace {

// A handle has, from its highest bit: where its object is (2 bits), the kind of object (4 bits), and the place (26
// bits). The place of a request begins with the number of its table (6 bits) if there are several tables. The place of
// an object in a block is the number of the block and its index there.
constexpr std::uint64_t predefined_object = 1, direct_object = 2, object_in_block = 3;
constexpr unsigned place_bits = 26, table_bits = 6;
constexpr std::uint64_t kind_of_communicators = 1, kind_of_requests = 11;
/// The number of bits of an index in a block: MPICH 3.4 and later, and earlier ones.
constexpr std::initializer_list<unsigned> index_widths = {12, 16};

std::uint64_t low_bits(std::uint64_t value, unsigned bits) {
  return value & ((std::uint64_t{1} << bits) - 1);
}
std::uint64_t where_kept(std::uint64_t handle_value) {
  return handle_value >> 30U;
}
std::uint64_t kind_of(std::uint64_t handle_value) {
  return low_bits(handle_value >> place_bits, 4);
}

bool take_table(type_reader& type, mpich_table_fields& all) {
  return type.open("MPIR_Object_alloc_t") && type.take("direct", all.direct) &&
         type.take("direct_size", all.direct_count) && type.take("indirect", all.blocks) &&
         type.take("indirect_size", all.block_count) && type.take("size", all.object_bytes);
}

bool take_request(type_reader& type, mpich_request_fields& all) {
  const bool found = type.open("MPIR_Request") && type.take("handle", all.handle) && type.take("kind", all.kind) &&
                     type.take("cc", all.counter) && type.take("cc_ptr", all.counter_at) &&
                     type.take("comm", all.communicator);
  if (found) all.bytes = type.bytes();
  return found;
}

bool take_communicator(type_reader& type, mpich_communicator_fields& all) {
  const bool found = type.open("MPIR_Comm") && type.take("handle", all.handle) && type.take("remote_size", all.peers) &&
                     type.take("context_id", all.send_id) && type.take("recvcontext_id", all.receive_id);
  if (found) all.bytes = type.bytes();
  return found;
}

/// A member of a structure that is itself a member, and so on, from the outermost to the innermost.
struct nested_member {
  std::string_view type, member;
};
std::optional<std::uint64_t> offset_of(type_reader& type, std::initializer_list<nested_member> way) {
  constexpr std::uint64_t largest_structure = std::uint64_t{1} << 20U;
  std::uint64_t offset = 0;
  for (const nested_member& step : way) {
    const auto found = type.open(step.type) ? type.find(step.member, largest_structure) : std::nullopt;
    if (!found) return std::nullopt;
    offset += found->offset;
  }
  return offset;
}

std::optional<mpich_message_fields> find_message(type_reader& type) {
  const auto offset =
      offset_of(type, {{"MPIR_Request", "dev"}, {"MPIDI_Request", "match"}, {"MPIDI_Message_match", "parts"}});
  mpich_message_fields all;
  if (!offset || !type.open("MPIDI_Message_match_parts_t") || !type.take("tag", all.tag) ||
      !type.take("rank", all.rank) || !type.take("context_id", all.id)) {
    return std::nullopt;
  }
  for (field* one : {&all.tag, &all.rank, &all.id}) one->offset += *offset;
  return all;
}

std::optional<mpich_process_fields> find_processes(type_reader& type) {
  const auto offset = offset_of(type, {{"MPIR_Comm", "dev"}});
  mpich_process_fields all;
  const bool found = offset && type.open("MPIDI_CH3I_comm_t") && type.take("vcrt", all.of_communicator) &&
                     type.open("struct MPIDI_VCRT") && type.take("size", all.count) &&
                     type.take("vcr_table", all.first) && type.open("struct MPIDI_VC") && type.take("pg", all.group) &&
                     type.take("pg_rank", all.rank_in_group);
  if (!found) return std::nullopt;
  all.of_communicator.offset += *offset;
  return all;
}

}  // namespace

std::optional<mpich_objects> find_mpich_objects(type_source& types) {
  mpich_objects all;
  type_reader type(types);
  if (!take_request(type, all.request) || !take_communicator(type, all.communicator) || !take_table(type, all.table))
    return std::nullopt;
  all.table.bytes = type.bytes();
  if (all.table.bytes == 0 || all.request.bytes == 0 || all.communicator.bytes == 0) return std::nullopt;
  auto kinds = types.type_named("MPIR_Request_kind_t", source_language::c);
  if (!kinds || !*kinds) return std::nullopt;
  all.request.kinds = std::move((*kinds)->enumerators);
  all.message = find_message(type);
  all.processes = find_processes(type);
  return all;
}

std::optional<std::uint64_t> mpich_object_reader::number(target_address object, const field& which) {
  const auto value = read_unsigned(memory_, abi_, object + which.offset, static_cast<std::size_t>(which.size));
  return value ? std::optional{*value} : std::nullopt;
}

std::optional<std::int64_t> mpich_object_reader::signed_number(target_address object, const field& which) {
  const auto value = read_signed(memory_, abi_, object + which.offset, static_cast<std::size_t>(which.size));
  return value ? std::optional{*value} : std::nullopt;
}

bool mpich_object_reader::is_object(target_address object, const field& handle_in, std::uint64_t handle_value) {
  return number(object, handle_in) == handle_value;
}

std::optional<target_address> mpich_object_reader::in_table(target_address table, const kept_object& what,
                                                            std::uint64_t handle_value, unsigned place_width) {
  const mpich_table_fields& in = where_.table;
  const bool direct = where_kept(handle_value) == direct_object;
  if (!direct && where_kept(handle_value) != object_in_block) return std::nullopt;
  const auto bytes = number(table, in.object_bytes);
  const auto begin = number(table, direct ? in.direct : in.blocks);
  const auto count = number(table, direct ? in.direct_count : in.block_count);
  // Types of another MPICH have other sizes.
  if (!begin || *begin == 0 || !count || bytes != what.bytes) return std::nullopt;
  const std::uint64_t place = low_bits(handle_value, place_width);
  if (direct) {
    const target_address object{*begin + place * what.bytes};
    return place < *count && is_object(object, what.handle, handle_value) ? std::optional{object} : std::nullopt;
  }
  for (const unsigned index_width : index_widths) {
    const std::uint64_t block = place >> index_width;
    if (block >= *count) continue;
    const auto at = number(target_address{*begin}, {block * abi_.pointer_size, abi_.pointer_size});
    if (!at || *at == 0) continue;
    const target_address object{*at + low_bits(place, index_width) * what.bytes};
    if (is_object(object, what.handle, handle_value)) return object;
  }
  return std::nullopt;
}

std::optional<target_address> mpich_object_reader::among_predefined(const std::optional<target_address>& first,
                                                                    const kept_object& what,
                                                                    std::uint64_t handle_value) {
  constexpr std::uint64_t most_predefined = 64;
  const std::uint64_t place = low_bits(handle_value, place_bits);
  if (!first || place >= most_predefined) return std::nullopt;
  const target_address object = *first + place * what.bytes;
  return is_object(object, what.handle, handle_value) ? std::optional{object} : std::nullopt;
}

std::optional<target_address> mpich_object_reader::request(std::uint64_t handle_value, const mpich_places& in) {
  const kept_object what{where_.request.bytes, where_.request.handle};
  if (kind_of(handle_value) != kind_of_requests) return std::nullopt;
  if (where_kept(handle_value) == predefined_object) return among_predefined(in.predefined, what, handle_value);
  const bool several = where_.request_tables > 1;
  const unsigned width = several ? place_bits - table_bits : place_bits;
  const std::uint64_t table = several ? low_bits(handle_value, place_bits) >> width : 0;
  if (table >= where_.request_tables) return std::nullopt;
  return in_table(in.tables + table * where_.table.bytes, what, handle_value, width);
}

std::optional<target_address> mpich_object_reader::communicator(std::uint64_t handle_value, const mpich_places& in) {
  const kept_object what{where_.communicator.bytes, where_.communicator.handle};
  if (kind_of(handle_value) != kind_of_communicators) return std::nullopt;
  if (where_kept(handle_value) == predefined_object) return among_predefined(in.predefined, what, handle_value);
  return in_table(in.tables, what, handle_value, place_bits);
}

}  // namespace mpiacq

// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "objects/ob1_types.hpp"

namespace mpiacq {

namespace {

constexpr std::uint64_t largest_member = 4096;  // a list, a header, or an array of segments

bool take_part(const type_reader& type, std::string_view name, field& into) {
  const auto found = type.find(name, largest_member);
  if (found) into = *found;
  return found.has_value();
}

bool take_lists(type_reader& type, ob1_types& into) {
  return type.open("opal_object_t") && type.take("obj_class", into.object_class) && type.open("opal_class_t") &&
         type.take("cls_sizeof", into.class_size) && type.open("opal_list_t") &&
         take_part(type, "opal_list_sentinel", into.list_begin) && type.take("opal_list_length", into.list_length) &&
         type.open("opal_list_item_t") && type.take("opal_list_next", into.item_next);
}

bool take_senders(type_reader& type, ob1_types& into) {
  if (!type.open("mca_pml_ob1_comm_t") || !type.take("procs", into.senders) ||
      !type.take("num_procs", into.sender_count)) {
    return false;
  }
  into.communicator_size = type.bytes();
  if (!type.open("mca_pml_ob1_comm_proc_t") || !take_part(type, "unexpected_frags", into.unexpected)) return false;
  into.sender_size = type.bytes();
  into.out_of_order = type.find("frags_cant_match");
  return type.open("ompi_communicator_t") && type.take("c_pml_comm", into.of_communicator);
}

bool take_message(type_reader& type, ob1_types& into) {
  if (!type.open("mca_pml_ob1_recv_frag_t") || !take_part(type, "hdr", into.header) ||
      !take_part(type, "segments", into.segments) || !type.take("num_segments", into.segment_count)) {
    return false;
  }
  into.message_size = type.bytes();
  into.range = type.find("range");
  if (!type.open("mca_btl_base_segment_t") || !type.take("seg_addr", into.segment_address) ||
      !type.take("seg_len", into.segment_bytes)) {
    return false;
  }
  into.segment_size = type.bytes();
  return into.segment_size != 0 && into.segments.size % into.segment_size == 0;
}

/// The headers begin with one another: what all have, what a match needs, what a message has that is not sent at once.
bool take_headers(type_reader& type, ob1_types& into) {
  field sequence;
  field inner;
  if (!type.open("mca_pml_ob1_match_hdr_t") || !take_part(type, "hdr_common", inner) || inner.offset != 0 ||
      !type.take("hdr_src", into.source) || !type.take("hdr_tag", into.tag) || !type.take("hdr_seq", sequence)) {
    return false;
  }
  // Without padding, the data begins right behind the last member (OMPI_PML_OB1_MATCH_HDR_LEN).
  into.header_bytes = type.find("hdr_padding") ? type.bytes() : sequence.offset + sequence.size;
  return type.open("mca_pml_ob1_common_hdr_t") && type.take("hdr_type", into.header_type) &&
         type.open("mca_pml_ob1_rendezvous_hdr_t") && take_part(type, "hdr_match", inner) && inner.offset == 0 &&
         type.take("hdr_msg_length", into.whole_length);
}

}  // namespace

std::optional<ob1_types> find_ob1_types(type_source& types) {
  ob1_types all;
  type_reader type(types);
  // The private types come first: where there is no debug information, this is the only question.
  const bool found =
      take_senders(type, all) && take_message(type, all) && take_headers(type, all) && take_lists(type, all);
  return found ? std::optional{all} : std::nullopt;
}

}  // namespace mpiacq

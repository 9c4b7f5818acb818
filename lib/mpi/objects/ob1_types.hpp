// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Where the members of the types of Open MPI's PML ob1 are. They are private to the PML, and no header that Open MPI
// installs has them: only debug information knows them.
#pragma once

#include <cstdint>
#include <optional>

#include "mpiacq/process/type_source.hpp"
#include "objects/type_fields.hpp"

namespace mpiacq {

/// Where the members are that lead from a communicator to the messages that have arrived for it.
struct ob1_types {
  field object_class;                     ///< opal_object_t
  field class_size;                       ///< opal_class_t
  field list_begin, list_length;          ///< opal_list_t: the item before the first one, the number of items
  field item_next;                        ///< opal_list_item_t
  field of_communicator;                  ///< ompi_communicator_t: its mca_pml_ob1_comm_t
  field senders, sender_count;            ///< mca_pml_ob1_comm_t: addresses, by rank in the communicator
  field unexpected;                       ///< mca_pml_ob1_comm_proc_t: an opal_list_t
  std::optional<field> out_of_order;      ///< of the same: the first message of a ring
  field header, segments, segment_count;  ///< mca_pml_ob1_recv_frag_t
  std::optional<field> range;             ///< of the same: a ring of the messages that follow directly
  field segment_address, segment_bytes;   ///< mca_btl_base_segment_t
  field header_type;                      ///< from the beginning of a header
  field source, tag;                      ///< likewise
  field whole_length;                     ///< likewise, in the header of a message that is not sent at once
  std::uint64_t header_bytes = 0;         ///< of a message that is sent at once
  std::uint64_t segment_size = 0;         ///< of one element of `segments`
  std::uint64_t communicator_size = 0;    ///< the sizes of the types that have a class of their own
  std::uint64_t sender_size = 0;
  std::uint64_t message_size = 0;
};

/// Empty if a type is not known or lacks a member. Open MPI 5 can be built with other lists of messages
/// (MCA_PML_OB1_CUSTOM_MATCH); these types lack `unexpected_frags`.
[[nodiscard]] std::optional<ob1_types> find_ob1_types(type_source& types);

}  // namespace mpiacq

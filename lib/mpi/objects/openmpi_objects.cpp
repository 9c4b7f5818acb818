// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "objects/openmpi_objects.hpp"

namespace mpiacq {

namespace {

constexpr int most_parents = 16;           // Open MPI's classes have six at most
constexpr std::size_t most_classes = 256;  // that are remembered
constexpr std::uint64_t most_entries = 1U << 24U;
/// In front of the class of an object if Open MPI was configured with --enable-debug (OPAL_OBJ_MAGIC_ID).
constexpr std::uint64_t magic = 0xdeafbeeddeafbeed;

bool take_request(type_reader& type, openmpi_objects& into) {
  return type.open("ompi_request_t") && type.take("req_type", into.request_type) &&
         type.take("req_complete", into.request_complete) && type.take("req_state", into.request_state) &&
         type.take("req_persistent", into.request_persistent) && type.take("req_mpi_object", into.request_object);
}

std::optional<openmpi_communicator_fields> find_communicator_fields(type_reader& type) {
  openmpi_communicator_fields all;
  if (!type.open("ompi_communicator_t")) return std::nullopt;
  const auto label = type.find("c_name", most_label_bytes);
  if (!label || !type.take("c_my_rank", all.rank) || !type.take("c_flags", all.flags) ||
      !type.take("c_local_group", all.local_group) || !type.take("c_remote_group", all.remote_group) ||
      !take_group_fields(type, all.group)) {
    return std::nullopt;
  }
  all.label = *label;
  return all;
}

std::optional<openmpi_window_fields> find_window_fields(type_reader& type) {
  openmpi_window_fields all;
  if (!type.open("ompi_group_t") || !type.take("grp_my_rank", all.rank_in_group)) return std::nullopt;
  if (!type.open("ompi_win_t") || !type.take("w_flags", all.flags) || !type.take("w_group", all.group)) {
    return std::nullopt;
  }
  const auto label = type.find("w_name", most_label_bytes);
  if (label) all.label = *label;
  return label ? std::optional{all} : std::nullopt;
}

std::optional<openmpi_topology_fields> find_topology_fields(type_reader& type) {
  openmpi_topology_fields all;
  const bool found = type.open("ompi_communicator_t") && type.take("c_topo", all.of_communicator) &&
                     type.open("mca_topo_base_module_t") && type.take("mtc", all.kept) &&
                     type.open("mca_topo_base_comm_cart_2_2_0_t") && type.take("ndims", all.dimensions) &&
                     type.take("dims", all.sizes) && type.take("periods", all.cycles) &&
                     type.take("coords", all.own_place) && type.open("mca_topo_base_comm_graph_2_2_0_t") &&
                     type.take("nnodes", all.nodes) && type.take("index", all.ends) && type.take("edges", all.edges) &&
                     type.open("mca_topo_base_comm_dist_graph_2_2_0_t") && type.take("in", all.sources) &&
                     type.take("indegree", all.source_count);
  return found ? std::optional{all} : std::nullopt;
}

}  // namespace

std::optional<openmpi_objects> find_openmpi_objects(type_source& types) {
  openmpi_objects all;
  type_reader type(types);
  const bool found = type.open("opal_class_t") && type.take("cls_parent", all.class_parent) &&
                     type.open("opal_pointer_array_t") && type.take("size", all.table_size) &&
                     type.take("addr", all.table_entries) && type.open("ompi_communicator_t") &&
                     take_communicator_id(type, all.communicator_id) && take_request(type, all);
  if (!found) return std::nullopt;
  all.communicator = find_communicator_fields(type);
  all.window = find_window_fields(type);
  all.topology = find_topology_fields(type);
  if (type.open("ompi_file_t")) all.file_communicator = type.find("f_comm");
  return all;
}

std::optional<std::uint64_t> object_reader::number(target_address object, const field& which) {
  const auto value = read_unsigned(memory_, abi_, object + which.offset, static_cast<std::size_t>(which.size));
  return value ? std::optional{*value} : std::nullopt;
}

std::optional<target_address> object_reader::class_of(target_address object) {
  auto first = number(object, {0, abi_.pointer_size});
  if (first == magic) first = number(object, {sizeof magic, abi_.pointer_size});
  return first && *first != 0 ? std::optional{target_address{*first}} : std::nullopt;
}

bool object_reader::leads_to(target_address from, target_address its_class) {
  for (int parents = 0; parents <= most_parents && from.value() != 0; ++parents) {
    if (from == its_class) return true;
    const auto parent = number(from, where_.class_parent);
    if (!parent) return false;
    from = target_address{*parent};
  }
  return false;
}

bool object_reader::is_a(target_address object, target_address its_class) {
  const auto own = class_of(object);
  if (!own) return false;
  const std::pair question{own->value(), its_class.value()};
  if (const auto known = known_.find(question); known != known_.end()) return known->second;
  const bool answer = leads_to(*own, its_class);
  if (known_.size() < most_classes) known_.emplace(question, answer);
  return answer;
}

std::optional<target_address> object_reader::entry(target_address table, std::uint64_t place) {
  const auto size = number(table, where_.table_size);
  const auto entries = number(table, where_.table_entries);
  if (!size || !entries || *entries == 0 || place >= *size || place >= most_entries) return std::nullopt;
  const std::uint64_t width = abi_.pointer_size;
  const auto object = number(target_address{*entries}, {place * width, width});
  return object && *object != 0 ? std::optional{target_address{*object}} : std::nullopt;
}

}  // namespace mpiacq
